/** Runs: pages of them, their sums, facets and groups, and one run. Its calls come through `pages/run/use-run-table.ts`. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  RunBody,
  RunFacetsBody,
  RunGroupsBody,
  RunSummaryBody,
  RunWithStepsBody,
} from '../../../src/admin/run-bodies.ts';
import { ApiError, getJson, type Parameters } from './client.ts';

export type Run = RunBody;
export type RunWithSteps = RunWithStepsBody;
export type RunSummary = RunSummaryBody;
export type RunFacets = RunFacetsBody;
export type RunGroup = RunGroupsBody['data'][number];

/** What all questions about runs have in common. */
export interface RunsQuestion {
  readonly from: string;
  readonly to: string;
  readonly f: readonly string[];
  readonly q: string | undefined;
}

interface RunPage {
  readonly data: readonly Run[];
  readonly next_cursor: string | null;
}

const PAGE_RUNS = 100;

export function runsParameters({ from, to, f, q }: RunsQuestion): Parameters {
  return { from, to, f, q };
}

export function runsQuery(question: RunsQuestion, sort: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ['runs', question, sort],
    queryFn: ({ pageParam, signal }) =>
      getJson<RunPage>('/runs', { ...runsParameters(question), sort, limit: PAGE_RUNS, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

export function runSummaryQuery(question: RunsQuestion) {
  return queryOptions({
    queryKey: ['runs-summary', question],
    queryFn: ({ signal }) => getJson<RunSummary>('/runs/summary', runsParameters(question), signal),
  });
}

export function runFacetsQuery({ from, to }: Pick<RunsQuestion, 'from' | 'to'>) {
  return queryOptions({
    queryKey: ['runs-facets', from, to],
    queryFn: ({ signal }) => getJson<RunFacets>('/runs/facets', { from, to }, signal),
  });
}

export function runGroupsQuery({ from, to, f }: RunsQuestion, by: string) {
  return queryOptions({
    queryKey: ['runs-groups', from, to, f, by],
    queryFn: ({ signal }) => getJson<RunGroupsBody>('/runs/groups', { from, to, f, by }, signal),
  });
}

const BEGINNING_REFETCH_MS = 3_000;

/** A run that does not exist yet is asked for again: its first call may be on the way. */
export function runQuery(trace: string) {
  return queryOptions({
    queryKey: ['run', trace],
    queryFn: ({ signal }) => getJson<RunWithSteps>('/run', { trace_id: trace }, signal),
    refetchInterval: ({ state }) =>
      state.error instanceof ApiError && state.error.status === 404 ? BEGINNING_REFETCH_MS : false,
    // Another run's figures must never stand under this trace id.
    placeholderData: () => undefined,
  });
}
