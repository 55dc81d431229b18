/** Runs: pages of them, their sums, facets and groups, and one run. Its calls come through `pages/run/use-run-table.ts`. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { ApiError, getJson, type Parameters } from './client.ts';

export type Run = ApiAnswer<'get', '/runs'>['data'][number];
export type RunWithSteps = ApiAnswer<'get', '/run'>;
export type RunSummary = ApiAnswer<'get', '/runs/summary'>;
export type RunGroup = ApiAnswer<'get', '/runs/groups'>['data'][number];

/** What all questions about runs have in common. */
export interface RunsQuestion {
  readonly from: string;
  readonly to: string;
  readonly f: readonly string[];
  readonly q: string | undefined;
}

const PAGE_RUNS = 100;

export function runsParameters({ from, to, f, q }: RunsQuestion): Parameters {
  return { from, to, f, q };
}

export function runsQuery(question: RunsQuestion, sort: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ['runs', question, sort],
    queryFn: ({ pageParam, signal }) =>
      getJson('/runs', { ...runsParameters(question), sort, limit: PAGE_RUNS, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

/** With another time to wait, the answer of before stays meanwhile. */
export function runSummaryQuery(question: RunsQuestion, waitMs: number | undefined) {
  return queryOptions({
    queryKey: ['runs-summary', question, waitMs],
    queryFn: ({ signal }) => getJson('/runs/summary', { ...runsParameters(question), wait_ms: waitMs }, signal),
    ...(waitMs === undefined ? {} : { placeholderData: keepPreviousData }),
  });
}

export function runFacetsQuery({ from, to }: Pick<RunsQuestion, 'from' | 'to'>) {
  return queryOptions({
    queryKey: ['runs-facets', from, to],
    queryFn: ({ signal }) => getJson('/runs/facets', { from, to }, signal),
  });
}

export function runGroupsQuery(question: RunsQuestion, by: string, waitMs: number | undefined) {
  return queryOptions({
    queryKey: ['runs-groups', by, question, waitMs],
    queryFn: ({ signal }) => getJson('/runs/groups', { ...runsParameters(question), by, wait_ms: waitMs }, signal),
    // Groups by something else must not stand under the new name, nor lead to its runs.
    placeholderData: (former, asked) => (asked?.queryKey[1] === by ? former : undefined),
  });
}

const BEGINNING_REFETCH_MS = 3_000;

/** A run that does not exist yet is asked for again: its first call may be on the way. */
export function runQuery(trace: string) {
  return queryOptions({
    queryKey: ['run', trace],
    queryFn: ({ signal }) => getJson('/run', { trace_id: trace }, signal),
    refetchInterval: ({ state }) =>
      state.error instanceof ApiError && state.error.status === 404 ? BEGINNING_REFETCH_MS : false,
    // Another run's figures must never stand under this trace id.
    placeholderData: () => undefined,
  });
}
