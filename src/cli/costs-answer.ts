/** The fields of `GET /api/v1/costs` that the command line reads. */
import { z } from 'zod';

const Sums = z.object({
  calls: z.number(),
  errors: z.number(),
  unpriced_calls: z.number(),
  total_cost: z.string(),
  input_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  output_tokens: z.number(),
});
const Buckets = z
  .array(z.object({ start: z.string(), total_cost: z.string(), calls: z.number(), unpriced_calls: z.number() }))
  .nullable();

export const CostsAnswer = z.object({
  from: z.string(),
  to: z.string(),
  tz: z.string(),
  interval: z.string(),
  totals: Sums,
  data: z.array(Sums.extend({ group: z.array(z.string().nullable()), buckets: Buckets })),
  rest: Sums.extend({ groups: z.number(), buckets: Buckets }).nullable(),
});
export type CostsAnswer = z.infer<typeof CostsAnswer>;
