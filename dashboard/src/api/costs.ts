/** Costs over time by group, as the server adds them up. */
import { queryOptions } from '@tanstack/react-query';
import { formatGroupBy } from '../search/dimensions.ts';
import { getJson } from './client.ts';

export type CostInterval = 'hour' | 'day' | 'week' | 'month';

export interface CostSums {
  readonly calls: number;
  readonly errors: number;
  readonly unpriced_calls: number;
  /** Decimal text; with unpriced calls it is "at least". */
  readonly total_cost: string;
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

export interface CostBucket {
  /** RFC 3339; one of `bucket_starts`. */
  readonly start: string;
  readonly total_cost: string;
  readonly calls: number;
  readonly unpriced_calls: number;
}

export interface CostGroup extends CostSums {
  /** One value for each field that was grouped by; null where it is not set. */
  readonly group: readonly (string | null)[];
  /** Those with calls; null without an interval. */
  readonly buckets: readonly CostBucket[] | null;
}

export interface CostRest extends CostSums {
  /** So many groups are in it. */
  readonly groups: number;
  readonly buckets: readonly CostBucket[] | null;
}

export interface Costs {
  readonly from: string;
  readonly to: string;
  readonly tz: string;
  readonly interval: CostInterval | 'none';
  readonly totals: CostSums;
  readonly data: readonly CostGroup[];
  readonly rest: CostRest | null;
  readonly bucket_starts: readonly string[];
  /** Where the answer comes from: sums by the hour, or every record. */
  readonly source: 'hourly' | 'records';
}

export interface CostQuestion {
  readonly by: readonly string[];
  readonly interval: CostInterval | 'auto';
  readonly from: string;
  readonly to: string;
  readonly tz: string;
  readonly f: readonly string[];
  readonly limit: number;
}

export function costsQuery({ by, ...question }: CostQuestion) {
  const parameters = { ...question, group_by: formatGroupBy(by) };
  return queryOptions({
    queryKey: ['costs', parameters],
    queryFn: ({ signal }) => getJson<Costs>('/costs', parameters, signal),
  });
}
