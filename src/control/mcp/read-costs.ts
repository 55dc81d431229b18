/** Asks the API what calls cost, in the scope of the caller. */
import { z } from 'zod';
import { type AskApi, askJson, pathOf, type QueryFields, type ReadScope, scopedFilters } from './ask-api.ts';

/** How long calls may be read where no sums by hour answer, in milliseconds. */
const WAIT_MS = 5_000;

const Sums = z
  .object({
    calls: z.number(),
    errors: z.number(),
    unpriced_calls: z.number(),
    total_cost: z.string(),
    input_tokens: z.number(),
    cache_read_input_tokens: z.number(),
    cache_creation_input_tokens: z.number(),
    output_tokens: z.number(),
  })
  .loose();
export type CostSums = z.infer<typeof Sums>;

const Group = Sums.extend({ group: z.array(z.string().nullable()) });
export type CostGroup = z.infer<typeof Group>;

const Costs = z
  .object({ totals: Sums, data: z.array(Group), rest: z.unknown(), searched_to: z.string().nullable() })
  .loose();
export type Costs = z.infer<typeof Costs>;

export function readCosts(
  ask: AskApi,
  scope: ReadScope,
  fields: QueryFields,
  filters: readonly string[] | undefined,
): Promise<Costs> {
  return askJson(ask, Costs, pathOf('/api/v1/costs', { wait_ms: WAIT_MS, ...fields }, scopedFilters(scope, filters)));
}
