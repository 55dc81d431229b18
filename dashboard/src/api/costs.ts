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
  const parameters = { ...question, group_by: formatGroupBy(by) };
  return queryOptions({
    queryKey: ['costs', parameters],
    queryFn: ({ signal }) => getJson('/costs', parameters, signal),
  });
}
