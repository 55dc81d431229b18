/** Logs: every call, filtered, sorted, live; a call opens beside the list. All of its state stands in the address. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PanelLeft, Radio } from 'lucide-react';
import { useCallback, useMemo, useRef } from 'react';
import { ApiError, apiPath } from '../../api/client.ts';
import { logsParameters, logsQuery } from '../../api/logs.ts';
import { Button } from '../../components/buttons.tsx';
import { FilterBar } from '../../components/filter-bar.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { SidePanel } from '../../components/side-panel.tsx';
import { ErrorState, Skeleton, StaleNote } from '../../components/states.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { useRefresh } from '../../refresh.tsx';
import { LazyLogDetail } from '../log/lazy-log-detail.tsx';
import { useKeyNames } from '../log/use-key-name.ts';
import { changeFilters } from './change-filters.ts';
import { formatColumns, listFields, readColumns } from './column-list.ts';
import { ColumnMenu } from './column-menu.tsx';
import { ExcludeRuns } from './exclude-runs.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FILTER_FIELDS } from './filter-fields.ts';
import { joinRows } from './live-rows.ts';
import { LogsEmpty } from './logs-empty.tsx';
import { LogsFacets } from './logs-facets.tsx';
import type { LogsSearch } from './logs-search.ts';
import { LogsSummaryStrip } from './logs-summary.tsx';
import { LogsTable } from './logs-table.tsx';
import { useLiveRows } from './use-live-rows.ts';
import { useLogsQuestion, usePromotedKeys, useSumsQuestion } from './use-logs-question.ts';

const USUAL_SORT = '-requested_at';
const DAY_MS = 86_400_000;
/** So long before the window's end its `to` is taken for "now" no more. */
const AGED_MS = 5_000;
const NO_FILTERS: readonly string[] = [];

export function LogsPage() {
  const search = useSearch({ from: '/app/logs' });
  const navigate = useNavigate({ from: '/logs' });
  const change = useCallback(
    (next: LogsSearch, replace = false) => void navigate({ search: (before) => ({ ...before, ...next }), replace }),
    [navigate],
  );
  const question = useLogsQuestion(search);
  const sumsQuestion = useSumsQuestion(search, question, search.live === '1');
  const keyNames = useKeyNames();
  const promotedKeys = usePromotedKeys(question);
  const columns = useMemo(() => readColumns(search.cols, promotedKeys), [search.cols, promotedKeys]);
  const fields = useMemo(() => listFields(columns), [columns]);
  const isLive = search.live === '1';
  const sort = isLive ? USUAL_SORT : (search.sort ?? USUAL_SORT);
  const { f = NO_FILTERS, peek } = search;

  const list = useInfiniteQuery(logsQuery(question, sort, fields));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const frame = useRef<HTMLDivElement>(null);
  const isHolding = useCallback(() => {
    const scroller = frame.current?.querySelector('[data-scroller]');
    return (scroller?.scrollTop ?? 0) > 0 || scroller?.contains(document.activeElement) === true;
  }, []);
  const { from: _, to: __, ...tailQuestion } = logsParameters(question);
  const { refresh } = useRefresh();
  const onStreamOpen = () => {
    // After a long pause the window's end is behind what came since.
    if (Date.now() > Date.parse(question.to) - AGED_MS) refresh();
    else void refetch();
  };
  const tail = useLiveRows(isLive ? apiPath('/logs/stream', tailQuestion) : null, isHolding, onStreamOpen);

  const listed = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const rows = useMemo(() => joinRows(tail.live, listed), [tail.live, listed]);
  const needsDate = Date.parse(question.to) - Date.parse(question.from) > DAY_MS + 120_000;
  const context = useMemo(() => ({ keyNames, needsDate }), [keyNames, needsDate]);
  const problem = error instanceof ApiError && error.status === 400 ? error.message : null;

  const onFilter = useCallback((filter: string) => change({ f: changeFilters(f, filter) }), [change, f]);
  const onText = useCallback((q: string) => change({ q: q === '' ? undefined : q }, true), [change]);
  const onEndReached = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !tail.live.hasGap) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, tail.live.hasGap]);
  // With a panel open the next one takes its place: Back closes the panel and does not walk through all that was in it.
  const onPeek = (id: string) => change({ peek: id }, peek !== undefined);
  const closePeek = () => change({ peek: undefined, tab: undefined }, true);
  const showHeld = () => {
    tail.show();
    frame.current?.querySelector('[data-scroller]')?.scrollTo({ top: 0 });
  };
  const startOver = () => {
    tail.clear();
    void refetch();
  };

  return (
    <>
      <PageHeader
        title="Logs"
        actions={
          <>
            <Button
              aria-pressed={isLive}
              data-hotkey="l"
              className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
              onClick={() =>
                change(isLive ? { live: undefined } : { live: '1', sort: undefined, to: undefined, from: undefined })
              }
            >
              <Radio size={15} aria-hidden /> Live
            </Button>
            <ColumnMenu
              columns={columns}
              onColumns={(next) => change({ cols: next === null ? undefined : formatColumns(next) })}
            />
            <ExportMenu question={question} sort={sort} columns={columns} />
            <TimeRange
              search={search}
              onChange={(window) => change({ ...window, ...(window.range === undefined ? { live: undefined } : {}) })}
            />
          </>
        }
      />
      <LogsSummaryStrip
        question={sumsQuestion}
        onSelect={(from, to) => change({ from, to, range: undefined, live: undefined })}
      />
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 pb-3">
        <Button
          look="quiet"
          aria-pressed={search.facets !== 'off'}
          className="max-lg:hidden"
          onClick={() => change({ facets: search.facets === 'off' ? undefined : 'off' })}
        >
          <PanelLeft size={15} aria-hidden /> Facets
        </Button>
        <FilterBar
          fields={FILTER_FIELDS}
          filters={f}
          q={search.q ?? ''}
          onFilters={(next) => change({ f: next.length === 0 ? undefined : next })}
          onText={onText}
          placeholder="Search names, models, errors, metadata"
          problem={problem}
        />
        <ExcludeRuns
          isOn={search.exclude_runs === 'true'}
          onChange={(isOn) => change({ exclude_runs: isOn ? 'true' : undefined })}
        />
      </div>
      {(tail.state === 'reconnecting' || tail.state === 'failed') && (
        <StaleNote>Live is interrupted; trying again. What is shown stays.</StaleNote>
      )}
      {error !== null && problem === null && listed.length > 0 && (
        <StaleNote>The list could not be brought up to date: {error.message}</StaleNote>
      )}
      <div ref={frame} className="relative flex min-h-0 flex-1">
        {list.isFetching && data !== undefined && !isFetchingNextPage && (
          <div aria-hidden className="absolute inset-x-0 top-0 z-20 h-0.5 animate-pulse bg-accent" />
        )}
        {search.facets !== 'off' && peek === undefined && (
          <LogsFacets question={question} keyNames={keyNames} onToggle={onFilter} />
        )}
        <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
          <div role="status" className="absolute inset-x-0 top-10 z-20 flex h-0 justify-center">
            {tail.live.held.length > 0 && (
              <Button look="primary" className="rounded-full shadow-lg" onClick={showHeld}>
                {tail.live.held.length} new
              </Button>
            )}
          </div>
          {error !== null && problem === null && listed.length === 0 && (
            <ErrorState error={error} what="the calls" onRetry={() => void refetch()} />
          )}
          {data === undefined && error === null && <Skeleton rows={14} label="Loading the calls" />}
          {rows.length === 0 && data !== undefined && <LogsEmpty search={search} onChange={change} />}
          {rows.length > 0 && (
            <LogsTable
              rows={rows}
              columns={columns}
              context={context}
              sort={sort}
              peek={peek}
              onSort={(next) => change({ sort: next === USUAL_SORT ? undefined : next, live: undefined })}
              onPeek={onPeek}
              onFilter={onFilter}
              onFilters={(filters) => change({ f: filters })}
              onEndReached={onEndReached}
              footer={
                tail.live.hasGap ? (
                  <Button onClick={startOver}>These are the newest {rows.length}; show the older ones, too</Button>
                ) : isFetchingNextPage ? (
                  'Loading more…'
                ) : hasNextPage ? (
                  ''
                ) : (
                  `All ${rows.length.toLocaleString('en-US')} calls of this view`
                )
              }
            />
          )}
        </div>
        {peek !== undefined && (
          <SidePanel label="Call" onClose={closePeek}>
            <LazyLogDetail
              id={peek}
              tab={search.tab}
              onTab={(tab) => change({ tab }, true)}
              onShow={(id) => change({ peek: id }, true)}
            />
          </SidePanel>
        )}
      </div>
    </>
  );
}
