/**
 * The worked cases as data: calls whose cost was computed by hand from the providers' price lists, each with the lines
 * that it should have, to be compared string by string. It prices nothing.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../src/call-record.ts';
import { multiplyDecimals, parseDecimal } from '../src/pricing/decimal.ts';
import type { NativeQuoteInput } from '../src/quote/quote-input.ts';
import { USAGE_CLASSES, type UsageClass } from '../src/token-usage.ts';

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
  expected_components: z
    .array(
      z.object({ type: z.string(), quantity: z.number(), rate_usd: z.string(), per: z.number(), cost_usd: z.string() }),
    )
    .nullable(),
});
export type CostCase = z.infer<typeof CaseSchema>;

export function readCostCases(): readonly CostCase[] {
  const text = readFileSync(new URL('../src/pricing/cost-cases.json', import.meta.url), 'utf8');
  return z.array(CaseSchema).parse(JSON.parse(text));
}

/** Cases that the usage classes cannot express. A known limit, in data, so that the list cannot grow unseen. */
export const OUT_OF_SCOPE: Readonly<Record<string, string>> = {
  'openai-27': 'priced per image by size and quality, taken from the request; the answer has no usage',
};

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

/** One line in a form in which a declared multiplier and a price that has it in it are the same. */
interface ComparableLine {
  readonly class: string;
  readonly quantity: number;
  readonly price: ReturnType<typeof parseDecimal>;
  readonly per: number;
  readonly amount: string;
}

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

/** Without what is declared to be free: the price lists do not list it. */
export function comparableLines(lines: readonly PricedLine[]): readonly ComparableLine[] {
  const charged = lines.filter(({ rate }) => rate !== '0');
  return inOrder(
    charged.map((line) => ({
      class: line.class,
      quantity: line.quantity,
      price: multiplyDecimals(parseDecimal(line.rate), parseDecimal(line.multiplier)),
      per: line.per,
      amount: line.amount,
    })),
  );
}

export function expectedLines({ expected_components }: CostCase): readonly ComparableLine[] {
  return inOrder(
    (expected_components ?? []).map((part) => ({
      class: USAGE_CLASSES.find((name) => name === part.type) ?? CLASS_OF_TYPE[part.type] ?? part.type,
      quantity: part.quantity,
      price: parseDecimal(part.rate_usd),
      per: part.per,
      amount: part.cost_usd,
    })),
  );
}
