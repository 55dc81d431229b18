/** Pricing calls again: starting it, what it found by day and model, and the history of one call's cost. */
import { queryOptions } from '@tanstack/react-query';
import { getJson, sendJson } from './client.ts';
import type { CostDifference } from './prices.ts';

export interface RepriceQuestion {
  readonly from: string | null;
  readonly to: string | null;
  readonly f: readonly string[];
  readonly only: 'unpriced' | 'all';
  readonly reason: string;
  readonly dry_run: boolean;
}

interface StartedJob {
  readonly job_id: number;
}

export function startReprice({ from, to, ...question }: RepriceQuestion): Promise<StartedJob> {
  return sendJson('POST', '/reprice', {
    ...question,
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
  });
}

export interface RepriceDay extends CostDifference {
  readonly day: string;
  readonly provider: string;
  readonly model: string;
}

export interface RepriceDays {
  readonly data: readonly RepriceDay[];
  readonly next_cursor: string | null;
  readonly totals: CostDifference;
}

const DAYS = 1_000;

/** `isUnderWay`: the figures still grow. */
export function repriceDaysQuery(jobId: number, isUnderWay: boolean) {
  return queryOptions({
    queryKey: ['reprice', jobId, 'days', isUnderWay],
    queryFn: ({ signal }) => getJson<RepriceDays>(`/reprice/${jobId}/days`, { limit: DAYS }, signal),
    refetchInterval: isUnderWay ? 2_000 : false,
  });
}

export interface CostRevision {
  readonly job_id: number;
  readonly revised_at: string;
  readonly reason: string;
  readonly old_price_version: string | null;
  readonly new_price_version: string | null;
  readonly old_billing_model: string | null;
  readonly new_billing_model: string | null;
  readonly old_cost_status: string;
  readonly new_cost_status: string;
  readonly old_total_cost: string | null;
  readonly new_total_cost: string | null;
  readonly old_known_cost: string | null;
  readonly new_known_cost: string | null;
}

export function revisionsQuery(logId: string) {
  return queryOptions({
    queryKey: ['log-revisions', logId],
    queryFn: ({ signal }) =>
      getJson<{ readonly data: readonly CostRevision[] }>(`/logs/${encodeURIComponent(logId)}/revisions`, {}, signal),
    placeholderData: () => undefined,
  });
}
