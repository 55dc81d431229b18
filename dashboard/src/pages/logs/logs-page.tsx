/** Logs: every call, filtered, sorted, live; a call opens beside the list. All of its state stands in the address. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef } from 'react';
import { ApiError, apiPath } from '../../api/client.ts';
import { type ListedLog, logsParameters, logsQuery, openLogsQuery } from '../../api/logs.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { Checkbox } from '../../components/form-field.tsx';
import {
  FacetsButton,
  ListEmpty,
  LiveButton,
  NothingSoFar,
  needsDates,
  RefreshLine,
  SearchedTo,
} from '../../components/list-parts.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { SidePanel } from '../../components/side-panel.tsx';
import { Pending, StaleNote } from '../../components/states.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { useRefresh } from '../../refresh.tsx';
import { changeFilters, type FiltersChange } from '../../search/filter-text.ts';
import { applyChange, changeOfFilters, type SearchChange } from '../../search/search-change.ts';
import { AlertOnThis } from '../brakes/alert-on-this.tsx';
import { LazyLogDetail } from '../log/lazy-log-detail.tsx';
import { useKeyNames } from '../log/use-key-name.ts';
import { ShareButton } from '../share/share-button.tsx';
import { changeColumns, listFields, readColumns } from './column-list.ts';
import { ColumnMenu } from './column-menu.tsx';
import { ExportMenu } from './export-menu.tsx';
import { joinOpenRows, joinRows, useLiveRows, useOnEnded } from './live-rows.ts';
import { shownMatch } from './log-cell.tsx';
import { LogsFacets } from './logs-facets.tsx';
import type { LogsSearch } from './logs-search.ts';
import { LogsSummaryStrip } from './logs-summary.tsx';
import { LogsTable } from './logs-table.tsx';
import { useLogsQuestion, usePromotedKeys, useSumsQuestion } from './use-logs-question.ts';

/** What the form offers; the grammar knows every column. */
const FILTER_FIELDS: readonly FilterField[] = [
  { field: 'model', label: 'Model' },
  { field: 'any_model', label: 'Model, or requested model without an answer' },
  { field: 'model_requested', label: 'Requested model' },
  { field: 'provider', label: 'Provider' },
  { field: 'outcome', label: 'Outcome' },
  { field: 'closed_before', label: 'Client left before (head, first_byte, end)' },
  { field: 'status', label: 'HTTP status' },
  { field: 'error_type', label: 'Error type' },
  { field: 'span_name', label: 'Span name' },
  { field: 'span_path', label: 'Span path' },
  { field: 'trace_id', label: 'Trace id' },
  { field: 'connection_id', label: 'Connection (id of a websocket)' },
  { field: 'endpoint', label: 'Endpoint' },
  { field: 'client', label: 'Client' },
  { field: 'agent_session', label: 'Agent’s session' },
  { field: 'agent', label: 'Agent (main, or a sub-agent’s id)' },
  { field: 'agent_turn', label: 'Agent’s turn' },
  { field: 'trace_source', label: 'Run comes from' },
  { field: 'client_address', label: 'Client’s IP address' },
  { field: 'key_id', label: 'Key (number)' },
  { field: 'streamed', label: 'Streamed' },
  { field: 'cost_status', label: 'Cost status' },
  { field: 'total_cost', label: 'Cost' },
  { field: 'input_tokens', label: 'Input tokens' },
  { field: 'output_tokens', label: 'Output tokens' },
  { field: 'cache_read_input_tokens', label: 'Tokens read from cache' },
  { field: 'duration_ms', label: 'Duration in ms' },
  { field: 'first_token_ms', label: 'First token in ms' },
  { field: 'path', label: 'Path' },
  { field: 'flags', label: 'Remark' },
];

const USUAL_SORT = '-requested_at';
/** So long before the window's end its `to` is taken for "now" no more. */
const AGED_MS = 5_000;
const NO_FILTERS: readonly string[] = [];
const NO_ROWS: readonly ListedLog[] = [];

export function LogsPage() {
  const search = useSearch({ from: '/app/logs' });
  const navigate = useNavigate({ from: '/logs' });
  const change = useCallback(
    (next: SearchChange<LogsSearch>, replace = false) =>
      void navigate({ search: (before) => applyChange(before, next), replace }),
    [navigate],
  );
  const question = useLogsQuestion(search);
  const sumsQuestion = useSumsQuestion(search, question, search.live === '1');
  const keyNames = useKeyNames();
  const promotedKeys = usePromotedKeys(question);
  const columns = useMemo(() => readColumns(search.cols, promotedKeys), [search.cols, promotedKeys]);
  const isSearching = question.q !== undefined;
  const fields = useMemo(
    () => [...listFields(columns), ...(isSearching ? (['matches'] as const) : [])],
    [columns, isSearching],
  );
  // As a filter, so that the alert has it as well.
  const alertFilters =
    search.exclude_runs === 'true' ? [...(search.f ?? NO_FILTERS), 'trace_id:nohas'] : (search.f ?? NO_FILTERS);
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
  const bringUpToDate = () => {
    // After a while the window's end is behind what came since.
    if (search.to === undefined && Date.now() > Date.parse(question.to) - AGED_MS) refresh();
    else void refetch();
  };
  const tail = useLiveRows(isLive ? apiPath('/logs/stream', tailQuestion) : null, isHolding, bringUpToDate);

  const listed = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const { data: open } = useQuery({
    ...openLogsQuery(question, fields, isLive),
    enabled: useAllowed('viewer') && sort === USUAL_SORT,
  });
  const openRows = sort === USUAL_SORT ? (open?.rows ?? NO_ROWS) : NO_ROWS;
  const rows = useMemo(() => joinOpenRows(openRows, joinRows(tail.live, listed)), [openRows, tail.live, listed]);
  const hasOnePage = data?.pages.length === 1;
  useOnEnded(openRows, () => {
    if (hasOnePage && !isLive) bringUpToDate();
  });
  const hiddenOpen = openRows.length === 0 ? 0 : (open?.total ?? 0) - openRows.length;
  const searchedTo = data?.pages.at(-1)?.searched_to ?? null;
  const searched = searchedTo !== null && {
    at: searchedTo,
    sort,
    isFetching: isFetchingNextPage,
    onContinue: () => void fetchNextPage(),
  };
  const needsDate = needsDates(question);
  const context = useMemo(() => ({ keyNames, needsDate }), [keyNames, needsDate]);
  const problem = error instanceof ApiError && error.status === 400 ? error.message : null;

  const onFilters = useCallback((next: FiltersChange) => change(changeOfFilters(next)), [change]);
  const onFilter = useCallback((filter: string) => onFilters((before) => changeFilters(before, filter)), [onFilters]);
  const onText = useCallback((q: string) => change({ q: q === '' ? undefined : q }, true), [change]);
  const onEndReached = useCallback(() => {
    if (hasNextPage && searchedTo === null && !isFetchingNextPage && !tail.live.hasGap) void fetchNextPage();
  }, [hasNextPage, searchedTo, isFetchingNextPage, fetchNextPage, tail.live.hasGap]);
  // With a panel open the next one takes its place: Back closes the panel and does not walk through all that was in it.
  const onPeek = (id: string) => {
    // The call opens where the search found it.
    const row = rows.find((one) => one.id === id);
    const isInMetadata = row !== undefined && shownMatch(row)?.in.startsWith('metadata.') === true;
    change(
      { peek: id, ...(isInMetadata ? { tab: 'metadata' } : isSearching ? { tab: undefined } : {}) },
      peek !== undefined,
    );
  };
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
            <Allowed to="viewer">
              <ShareButton
                what={{
                  page: 'logs',
                  f: [...f],
                  from: sumsQuestion.from,
                  to: sumsQuestion.to,
                  exclude_runs: question.excludeRuns,
                  ...(question.q === undefined ? {} : { q: question.q }),
                }}
              />
              <LiveButton
                isOn={isLive}
                onClick={() =>
                  change(isLive ? { live: undefined } : { live: '1', sort: undefined, to: undefined, from: undefined })
                }
              />
            </Allowed>
            <ColumnMenu
              columns={columns}
              onColumns={(next) => change(({ cols }) => ({ cols: changeColumns(cols, promotedKeys, next) }))}
            />
            <Allowed to="viewer">
              <AlertOnThis about="calls" filters={alertFilters} q={search.q} />
              <ExportMenu question={question} search={search} sort={sort} columns={columns} />
              <TimeRange
                search={search}
                onChange={(window) => change({ ...window, ...(window.range === undefined ? { live: undefined } : {}) })}
              />
            </Allowed>
          </>
        }
      />
      <LogsSummaryStrip
        question={sumsQuestion}
        onSelect={(from, to) => change({ from, to, range: undefined, live: undefined })}
      />
      <Allowed to="viewer">
        <div className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 pb-3">
          <FacetsButton facets={search.facets} onChange={change} />
          <FilterBar
            fields={FILTER_FIELDS}
            filters={f}
            q={search.q ?? ''}
            onFilters={onFilters}
            onText={onText}
            placeholder="Search names, errors, metadata, prompts and answers"
            problem={problem}
          />
          <Checkbox
            label="Exclude runs"
            className="h-8"
            isOn={search.exclude_runs === 'true'}
            onChange={(isOn) => change({ exclude_runs: isOn ? 'true' : undefined })}
          />
        </div>
      </Allowed>
      {(tail.state === 'reconnecting' || tail.state === 'failed') && (
        <StaleNote>Live updates are interrupted; trying again. What is shown stays.</StaleNote>
      )}
      {hiddenOpen > 0 && (
        <StaleNote>
          {openRows.length + hiddenOpen} calls are open; the newest {openRows.length} are shown.
        </StaleNote>
      )}
      {error !== null && problem === null && data !== undefined && (
        <StaleNote>The list could not be brought up to date: {error.message}</StaleNote>
      )}
      <div ref={frame} className="relative flex min-h-0 flex-1">
        {list.isFetching && data !== undefined && !isFetchingNextPage && <RefreshLine />}
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
          {data === undefined && problem === null && <Pending query={{ error, refetch }} what="the calls" rows={14} />}
          {rows.length === 0 && searched !== false && <NothingSoFar {...searched} />}
          {rows.length === 0 && data !== undefined && searched === false && (
            <ListEmpty what="calls" search={search} onChange={change}>
              Point a client at the gateway; its calls appear here within a second.
            </ListEmpty>
          )}
          {rows.length > 0 && (
            <LogsTable
              rows={rows}
              columns={columns}
              context={context}
              sort={sort}
              peek={peek}
              sought={question.q}
              onSort={(next) => change({ sort: next === USUAL_SORT ? undefined : next, live: undefined })}
              onPeek={onPeek}
              onFilter={onFilter}
              onFilters={(filters) => change({ f: filters })}
              onEndReached={onEndReached}
              footer={
                tail.live.hasGap ? (
                  <Button onClick={startOver}>These are the newest {rows.length}; show the older ones, too</Button>
                ) : searched !== false ? (
                  <SearchedTo {...searched} />
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
              sought={question.q}
              onTab={(tab) => change({ tab }, true)}
              onShow={(id) => change({ peek: id }, true)}
            />
          </SidePanel>
        )}
      </div>
    </>
  );
}
