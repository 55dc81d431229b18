/** Runs: filtered, sorted, in groups, live; a run opens beside the list. All of its state stands in the address. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { ApiError } from '../../api/client.ts';
import { metadataKeysQuery } from '../../api/metadata-keys.ts';
import { runsQuery } from '../../api/runs.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
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
import { addFilter, type FiltersChange, toggleFilter } from '../../search/filter-text.ts';
import { applyChange, changeOfFilters, type SearchChange } from '../../search/search-change.ts';
import { AlertOnThis } from '../brakes/alert-on-this.tsx';
import { useKeyNames } from '../log/use-key-name.ts';
import { ShareButton } from '../share/share-button.tsx';
import { RunPeek } from './run-peek.tsx';
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
const NO_FILTERS: readonly string[] = [];

const FIELDS: readonly FilterField[] = [
  { field: 'run.state', label: 'State (running, errors, client_closed, ok)' },
  { field: 'run.total_cost', label: 'Cost of the run' },
  { field: 'run.duration_ms', label: 'Duration of the run in ms' },
  { field: 'run.calls', label: 'Calls of the run' },
  { field: 'run.errors', label: 'Errors of the run' },
  { field: 'run.client_closed_calls', label: 'Calls whose client left' },
  { field: 'run.unpriced_calls', label: 'Calls whose cost is not fully known' },
  { field: 'run.trace_id', label: 'Trace id' },
  { field: 'any_model', label: 'A call: model, or requested model without an answer' },
  { field: 'model', label: 'A call: model, as answered' },
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
    (next: SearchChange<RunsSearch>, replace = false) =>
      void navigate({ search: (before) => applyChange(before, next), replace }),
    [navigate],
  );
  const question = useRunsQuestion(search);
  const mayOpen = useAllowed('viewer');
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
  const searchedTo = data?.pages.at(-1)?.searched_to ?? null;
  const searched = searchedTo !== null && {
    at: searchedTo,
    sort,
    isFetching: isFetchingNextPage,
    onContinue: () => void fetchNextPage(),
  };
  const problem = error instanceof ApiError && error.status === 400 ? error.message : null;
  const needsDate = needsDates(question);

  const onFilters = useCallback((next: FiltersChange) => change(changeOfFilters(next)), [change]);
  const onFilter = useCallback((filter: string) => onFilters((before) => toggleFilter(before, filter)), [onFilters]);
  const onText = useCallback((q: string) => change({ q: q === '' ? undefined : q }, true), [change]);
  const onEndReached = useCallback(() => {
    if (hasNextPage && searchedTo === null && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, searchedTo, isFetchingNextPage, fetchNextPage]);

  return (
    <>
      <PageHeader
        title="Runs"
        actions={
          <Allowed to="viewer">
            <ShareButton
              what={{
                page: 'runs',
                f: [...f],
                from: question.from,
                to: question.to,
                ...(question.q === undefined ? {} : { q: question.q }),
              }}
            />
            <LiveButton
              isOn={isLive}
              onClick={() => change(isLive ? { live: undefined } : { live: '1', from: undefined, to: undefined })}
            />
            <AlertOnThis about="runs" filters={f} q={search.q} />
            <GroupMenu group={group} onGroup={(next) => change({ group: next, peek: undefined })} />
            <TimeRange
              search={search}
              onChange={(window) => change({ ...window, ...(window.range === undefined ? { live: undefined } : {}) })}
            />
          </Allowed>
        }
      />
      <RunsSummaryStrip
        question={question}
        refetchMs={refetchMs}
        onSelect={(from, to) => change({ from, to, range: undefined, live: undefined })}
      />
      <Allowed to="viewer">
        <div className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 pb-3">
          <FacetsButton facets={search.facets} onChange={change} />
          <FilterBar
            fields={FIELDS}
            filters={f}
            q={search.q ?? ''}
            onFilters={onFilters}
            onText={onText}
            placeholder="Search trace ids and span names"
            problem={problem}
          />
        </div>
      </Allowed>
      {error !== null && problem === null && data !== undefined && (
        <StaleNote>The list could not be brought up to date: {error.message}</StaleNote>
      )}
      <div className="relative flex min-h-0 flex-1">
        {list.isFetching && data !== undefined && !isFetchingNextPage && !isLive && <RefreshLine />}
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
              onChoose={(chosen) =>
                change(({ f: before = NO_FILTERS }) => ({ group: undefined, f: chosen.reduce(addFilter, before) }))
              }
            />
          ) : (
            <>
              {data === undefined && problem === null && (
                <Pending query={{ error, refetch }} what="the runs" rows={12} />
              )}
              {runs.length === 0 && searched !== false && <NothingSoFar {...searched} />}
              {data !== undefined && runs.length === 0 && searched === false && (
                <ListEmpty what="runs" search={search} onChange={change}>
                  Calls that carry the same <code>X-Gateway-Trace-Id</code> become a run, and{' '}
                  <code>X-Gateway-Span-Path</code> puts them into its steps. Calls without a trace id are in{' '}
                  <Link to="/logs" className="text-accent underline">
                    Logs
                  </Link>
                  .
                </ListEmpty>
              )}
              {runs.length > 0 && (
                <RunsTable
                  runs={runs}
                  needsDate={needsDate}
                  sort={sort}
                  peek={peek}
                  onSort={(next) => change({ sort: next === USUAL_SORT ? undefined : next })}
                  // With a panel open the next run takes its place: Back closes the panel.
                  onPeek={(trace) => mayOpen && change({ peek: trace }, peek !== undefined)}
                  onOpen={(trace) => mayOpen && void navigate({ to: '/run', search: { trace } })}
                  onEndReached={onEndReached}
                  footer={
                    searched !== false ? (
                      <SearchedTo {...searched} />
                    ) : isFetchingNextPage ? (
                      'Loading more…'
                    ) : hasNextPage ? (
                      ''
                    ) : (
                      `All ${runs.length.toLocaleString('en-US')} runs of this view`
                    )
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

const FIXED = [
  { value: '', label: 'Not grouped' },
  { value: 'model', label: 'By model' },
  { value: 'provider', label: 'By provider' },
  { value: 'key', label: 'By key' },
] as const;

interface GroupMenuProps {
  readonly group: string | undefined;
  readonly onGroup: (group: string | undefined) => void;
}

function GroupMenu({ group, onGroup }: GroupMenuProps) {
  const { data } = useQuery(metadataKeysQuery());
  const keys = (data?.data ?? []).map(({ key }) => `metadata.${key}`);
  const isListed = group === undefined || keys.includes(group) || FIXED.some(({ value }) => value === group);
  return (
    <select
      aria-label="Group"
      value={group ?? ''}
      onChange={(event) => onGroup(event.target.value === '' ? undefined : event.target.value)}
      className="h-8 max-w-48 rounded-md border border-line-strong/60 bg-panel px-2"
    >
      {FIXED.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
      {(isListed ? keys : [group, ...keys]).map((key) => (
        <option key={key} value={key}>
          By {key.replace(/^metadata\./, '')}
        </option>
      ))}
    </select>
  );
}
