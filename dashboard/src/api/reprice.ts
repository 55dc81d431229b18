/** Pricing calls again: starting it, what it found by day and model, and the history of one call's cost. */
import { queryOptions } from '@tanstack/react-query';
import type { CostRevisionBody } from '../../../src/control/admin/prices/log-revisions-resource.ts';
import type { RepriceDayBody } from '../../../src/control/admin/prices/reprice-resource.ts';
import { getJson, sendJson } from './client.ts';

export interface RepriceQuestion {
  readonly from: string | null;
  readonly to: string | null;
  readonly f: readonly string[];
  readonly model?: string | null | undefined;
  readonly only: 'unpriced' | 'all';
  readonly reason: string;
  readonly dry_run: boolean;
}

interface StartedJob {
  readonly job_id: number;
}

export function startReprice({ from, to, ...question }: RepriceQuestion): Promise<StartedJob> {
  return sendJson(
    'post',
    '/reprice',
    {},
    {
      ...question,
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
    },
  );
}

export type RepriceDay = RepriceDayBody;

const DAYS = 1_000;

/** `isUnderWay`: the figures still grow. */
export function repriceDaysQuery(jobId: number, isUnderWay: boolean) {
  return queryOptions({
    queryKey: ['reprice', jobId, 'days', isUnderWay],
    queryFn: ({ signal }) => getJson('/reprice/{job_id}/days', { job_id: jobId, limit: DAYS }, signal),
    refetchInterval: isUnderWay ? 2_000 : false,
    // Another job's days must never stand under this one.
    placeholderData: (former, asked) => (asked?.queryKey[1] === jobId ? former : undefined),
  });
}

export type CostRevision = CostRevisionBody;

export function revisionsQuery(logId: string) {
  return queryOptions({
    queryKey: ['log-revisions', logId],
    queryFn: ({ signal }) => getJson('/logs/{id}/revisions', { id: logId }, signal),
    placeholderData: () => undefined,
  });
}
