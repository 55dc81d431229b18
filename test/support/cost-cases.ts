/**
 * The worked cases as data: calls whose cost was computed by hand from the providers' price lists, each with the lines
 * that it should have, to be compared string by string. It prices nothing.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { NativeQuoteInput } from '../../src/control/prices/quote/quote-input.ts';
import { multiplyDecimals, parseDecimal } from '../../src/pricing/decimal.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { USAGE_CLASSES, type UsageClass } from '../../src/vocabulary/token-usage.ts';

const CaseSchema = z.object({
  id: z.string(),
  provider: z.enum(PROVIDER_NAMES),
  endpoint: z.string(),
  model: z.string(),
  requested_at: z.string(),
  context: z.strictObject({
    batch: z.boolean().optional(),
    n: z.number().optional(),
    size: z.string().optional(),
    quality: z.string().optional(),
    input_characters: z.number().optional(),
  }),
  usage: z.record(z.string(), z.json()).nullable(),
  response: z.record(z.string(), z.json()),
  expected_cost_usd: z.string().nullable(),
  /** Where it does not follow from the cost. */
  expected_status: z.enum(['exact', 'partial', 'unpriced']).optional(),
  /** The priced part of one without a total. */
  expected_known_usd: z.string().optional(),
  expected_components: z
    .array(
      z.object({ type: z.string(), quantity: z.number(), rate_usd: z.string(), per: z.number(), cost_usd: z.string() }),
    )
    .nullable(),
});
export type CostCase = z.infer<typeof CaseSchema>;

export function readCostCases(name: 'cost-cases' | 'own-cases' = 'cost-cases'): readonly CostCase[] {
  const text = readFileSync(new URL(`../../src/pricing/${name}.json`, import.meta.url), 'utf8');
  return z.array(CaseSchema).parse(JSON.parse(text));
}

export function toQuoteInput(costCase: CostCase): NativeQuoteInput {
  const { provider, endpoint, model, context, usage, response } = costCase;
  const requestedAtMs = Date.parse(costCase.requested_at);
  return { kind: 'native', providerAlias: null, requestedAtMs, provider, endpoint, model, context, usage, response };
}

/** The cases name some parts in words of their own; others by the class. */
const CLASS_OF_TYPE: Readonly<Record<string, UsageClass>> = {
  input_text: 'input',
  output_text: 'output',
  cache_read_text: 'cache_read',
  cache_write: 'cache_creation_30m',
  cache_write_5m: 'cache_creation_5m',
  cache_write_1h: 'cache_creation_1h',
  web_search: 'web_search_requests',
  characters: 'input_characters',
  image: 'output_images',
};

/** One line in a form in which it does not matter for how many units a list names the price, nor what is a multiplier. */
interface ComparableLine {
  readonly class: string;
  readonly quantity: number;
  readonly priceOfOne: bigint;
  readonly amount: string;
}

/** Finer than any price is given. */
const FINER = 10n ** 12n;

export interface PricedLine {
  readonly class: string;
  readonly quantity: number;
  readonly rate: string;
  readonly per: number;
  readonly multiplier: string;
  readonly amount: string;
}

function inOrder(lines: readonly ComparableLine[]): readonly ComparableLine[] {
  return [...lines].sort((a, b) => (a.class < b.class ? -1 : 1));
}

/** Without what is declared to be free: not every price list lists it. */
export function comparableLines(lines: readonly PricedLine[]): readonly ComparableLine[] {
  const charged = lines.filter(({ rate }) => rate !== '0');
  return inOrder(
    charged.map((line) => ({
      class: line.class,
      quantity: line.quantity,
      priceOfOne: (multiplyDecimals(parseDecimal(line.rate), parseDecimal(line.multiplier)) * FINER) / BigInt(line.per),
      amount: line.amount,
    })),
  );
}

export function expectedLines({ expected_components }: CostCase): readonly ComparableLine[] {
  const charged = (expected_components ?? []).filter(({ rate_usd }) => rate_usd !== '0');
  return inOrder(
    charged.map((part) => ({
      class: USAGE_CLASSES.find((name) => name === part.type) ?? CLASS_OF_TYPE[part.type] ?? part.type,
      quantity: part.quantity,
      priceOfOne: (parseDecimal(part.rate_usd) * FINER) / BigInt(part.per),
      amount: part.cost_usd,
    })),
  );
}
