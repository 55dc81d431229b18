/** Costs over time by group, as the server adds them up. */
import { queryOptions } from '@tanstack/react-query';
import type { CostBucketBody, CostRowBody, CostsBody } from '../../../src/control/admin/costs-resource.ts';
import { formatGroupBy } from '../search/dimensions.ts';
import { getJson } from './client.ts';

export type Costs = CostsBody;
export type CostGroup = CostRowBody;
export type CostBucket = CostBucketBody;
export type CostSums = Costs['totals'];
/** All groups beyond the limit as one. */
export type CostRest = NonNullable<Costs['rest']>;

interface CostQuestion {
  readonly by: readonly string[];
  readonly interval: Costs['interval'] | 'auto';
  readonly from: string;
  readonly to: string;
  readonly tz: string;
  readonly f: readonly string[];
  readonly limit: number;
  /** How long calls are read, in milliseconds; undefined for the usual time. */
  readonly wait_ms: number | undefined;
}

export function costsQuery({ by, ...question }: CostQuestion) {
  const groupBy = formatGroupBy(by);
  return queryOptions({
    queryKey: ['costs', groupBy, question],
    queryFn: ({ signal }) => getJson('/costs', { ...question, group_by: groupBy }, signal),
    // Groups by something else must not stand under the new names.
    placeholderData: (former, asked) => (asked?.queryKey[1] === groupBy ? former : undefined),
  });
}
