/** What of the API's answer about a quote the command line reads. */
import { z } from 'zod';

const CostLine = z.object({
  class: z.string(),
  model: z.string().optional(),
  purpose: z.string().optional(),
  quantity: z.number(),
  rate: z.string(),
  per: z.number(),
  multiplier: z.string(),
  amount: z.string(),
  row: z.string(),
});

export const QuoteAnswer = z.object({
  total_cost: z.string().nullable(),
  known_cost: z.string(),
  cost_status: z.string(),
  cost_lines: z.array(CostLine),
  price_version: z.string(),
  billing_model: z.string().nullable(),
  unpriced: z.array(
    z.object({
      class: z.string(),
      quantity: z.number(),
      model: z.string().optional(),
      purpose: z.string().optional(),
      reason: z.string(),
    }),
  ),
  notes: z.array(z.string()),
});
export type QuoteAnswer = z.infer<typeof QuoteAnswer>;
