/** Runs: filtered, sorted, in groups, live; a run opens beside the list. All of its state stands in the address. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PanelLeft, Radio } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { ApiError } from '../../api/client.ts';
import { runsQuery } from '../../api/runs.ts';
import { Button } from '../../components/buttons.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { SidePanel } from '../../components/side-panel.tsx';
import { ErrorState, Skeleton, StaleNote } from '../../components/states.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { toggleFilter } from '../../search/filter-text.ts';
import { useKeyNames } from '../log/use-key-name.ts';
import { GroupMenu } from './group-menu.tsx';
import { RunPeek } from './run-peek.tsx';
import { RunsEmpty } from './runs-empty.tsx';
import { RunsFacets } from './runs-facets.tsx';
import { RunsGroups } from './runs-groups.tsx';
import type { RunsSearch } from './runs-search.ts';
import { RunsSummaryStrip } from './runs-summary.tsx';
import { RunsTable } from './runs-table.tsx';
import { useRunsQuestion } from './use-runs-question.ts';

const USUAL_SORT = '-ended_at';
const LIVE_MS = 5_000;
/** With more pages loaded than this, asking for all of them every few seconds would be too much. */
const MAX_LIVE_PAGES = 3;
const DAY_MS = 86_400_000;
const NO_FILTERS: readonly string[] = [];

const FIELDS: readonly FilterField[] = [
  { field: 'run.state', label: 'State (running, errors, client_closed, ok)' },
  { field: 'run.total_cost', label: 'Cost of the run' },
  { field: 'run.duration_ms', label: 'Duration of the run in ms' },
  { field: 'run.calls', label: 'Calls of the run' },
  { field: 'run.errors', label: 'Errors of the run' },
  { field: 'run.client_closed_calls', label: 'Calls whose client left' },
  { field: 'run.unpriced_calls', label: 'Calls whose cost is not wholly known' },
  { field: 'run.trace_id', label: 'Trace id' },
  { field: 'model', label: 'A call: model' },
  { field: 'provider', label: 'A call: provider' },
  { field: 'span_name', label: 'A call: span name' },
  { field: 'span_path', label: 'A call: span path' },
  { field: 'outcome', label: 'A call: outcome' },
  { field: 'error_type', label: 'A call: error type' },
  { field: 'client', label: 'A call: client' },
  { field: 'key_id', label: 'A call: key (number)' },
  { field: 'total_cost', label: 'A call: cost' },
];

export function RunsPage() {
  const search = useSearch({ from: '/app/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const change = useCallback(
    (next: RunsSearch, replace = false) => void navigate({ search: (before) => ({ ...before, ...next }), replace }),
    [navigate],
  );
  const question = useRunsQuestion(search);
  const keyNames = useKeyNames();
  const isLive = search.live === '1';
  const sort = search.sort ?? USUAL_SORT;
  const { f = NO_FILTERS, peek, group } = search;
  const refetchMs = isLive ? LIVE_MS : false;

  const list = useInfiniteQuery({
    ...runsQuery(question, sort),
    enabled: group === undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= MAX_LIVE_PAGES ? refetchMs : false),
  });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const runs = useMemo(() => {
    // While activity moves runs, one may be on two pages.
    const byTrace = new Map(data?.pages.flatMap((page) => page.data).map((run) => [run.trace_id, run]));
    return [...byTrace.values()];
  }, [data]);
  const problem = error instanceof ApiError && error.status === 400 ? error.message : null;
  const needsDate = Date.parse(question.to) - Date.parse(question.from) > DAY_MS + 120_000;

  const onFilter = useCallback((filter: string) => change({ f: toggleFilter(f, filter) }), [change, f]);
  const onText = useCallback((q: string) => change({ q: q === '' ? undefined : q }, true), [change]);
  const onEndReached = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  return (
    <>
      <PageHeader
        title="Runs"
        actions={
          <>
            <Button
              aria-pressed={isLive}
              data-hotkey="l"
              className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
              onClick={() => change(isLive ? { live: undefined } : { live: '1', from: undefined, to: undefined })}
            >
              <Radio size={15} aria-hidden /> Live
            </Button>
            <GroupMenu group={group} onGroup={(next) => change({ group: next, peek: undefined })} />
            <TimeRange
              search={search}
              onChange={(window) => change({ ...window, ...(window.range === undefined ? { live: undefined } : {}) })}
            />
          </>
        }
      />
      <RunsSummaryStrip
        question={question}
        refetchMs={refetchMs}
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
          fields={FIELDS}
          filters={f}
          q={search.q ?? ''}
          onFilters={(next) => change({ f: next.length === 0 ? undefined : next })}
          onText={onText}
          placeholder="Search trace ids and span names"
          problem={problem}
        />
      </div>
      {error !== null && problem === null && runs.length > 0 && (
        <StaleNote>The list could not be brought up to date: {error.message}</StaleNote>
      )}
      <div className="relative flex min-h-0 flex-1">
        {list.isFetching && data !== undefined && !isFetchingNextPage && !isLive && (
          <div aria-hidden className="absolute inset-x-0 top-0 z-20 h-0.5 animate-pulse bg-accent" />
        )}
        {search.facets !== 'off' && peek === undefined && (
          <RunsFacets question={question} keyNames={keyNames} onToggle={onFilter} />
        )}
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {group !== undefined ? (
            <RunsGroups
              question={question}
              by={group}
              keyNames={keyNames}
              refetchMs={refetchMs}
              onChoose={(filter) =>
                change({
                  group: undefined,
                  f: toggleFilter(
                    f.filter((one) => one !== filter),
                    filter,
                  ),
                })
              }
            />
          ) : (
            <>
              {error !== null && problem === null && runs.length === 0 && (
                <ErrorState error={error} what="the runs" onRetry={() => void refetch()} />
              )}
              {data === undefined && error === null && <Skeleton rows={12} label="Loading the runs" />}
              {data !== undefined && runs.length === 0 && <RunsEmpty search={search} onChange={change} />}
              {runs.length > 0 && (
                <RunsTable
                  runs={runs}
                  needsDate={needsDate}
                  sort={sort}
                  peek={peek}
                  onSort={(next) => change({ sort: next === USUAL_SORT ? undefined : next })}
                  // With a panel open the next run takes its place: Back closes the panel.
                  onPeek={(trace) => change({ peek: trace }, peek !== undefined)}
                  onOpen={(trace) => void navigate({ to: '/run', search: { trace } })}
                  onEndReached={onEndReached}
                  footer={
                    isFetchingNextPage
                      ? 'Loading more…'
                      : hasNextPage
                        ? ''
                        : `All ${runs.length.toLocaleString('en-US')} runs of this view`
                  }
                />
              )}
            </>
          )}
        </div>
        {peek !== undefined && group === undefined && (
          <SidePanel label="Run" onClose={() => change({ peek: undefined }, true)}>
            <RunPeek trace={peek} keyNames={keyNames} />
          </SidePanel>
        )}
      </div>
    </>
  );
}
