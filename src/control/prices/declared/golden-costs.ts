/** Calls with costs worked out by hand, which a new catalog must not change unnoticed. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../../vocabulary/call-record.ts';
import { type PicoUsd, parseUsd } from '../../../vocabulary/usd.ts';
import { quoteCall } from '../quote/quote-call.ts';

export interface GoldenCost {
  readonly id: string;
  readonly provider: ProviderName;
  readonly model: string;
  readonly worked: PicoUsd;
  /** Null where the book knows only a part. */
  readonly priceBy: (book: PriceBook) => PicoUsd | null;
}

const AnyObject = z.record(z.string(), z.json());
const Case = z.object({
  id: z.string(),
  provider: z.enum(PROVIDER_NAMES),
  endpoint: z.string(),
  model: z.string(),
  requested_at: z.string(),
  context: z.object({
    batch: z.boolean().optional(),
    n: z.number().optional(),
    size: z.string().optional(),
    quality: z.string().optional(),
    input_characters: z.number().optional(),
  }),
  usage: AnyObject.nullable(),
  response: AnyObject,
  expected_cost_usd: z.string().nullable(),
});

export function readGoldenCosts(): readonly GoldenCost[] {
  const text = readFileSync(new URL('../../../pricing/cost-cases.json', import.meta.url), 'utf8');
  return z
    .array(Case)
    .parse(JSON.parse(text))
    .flatMap(({ id, provider, model, requested_at, expected_cost_usd: cost, ...call }) => {
      if (cost === null) return [];
      const requestedAtMs = Date.parse(requested_at);
      const input = { kind: 'native' as const, provider, model, requestedAtMs, providerAlias: null, ...call };
      const priceBy = (book: PriceBook) => quoteCall(input, book, requestedAtMs).totalCost;
      return [{ id, provider, model, worked: parseUsd(cost), priceBy }];
    });
}
