/** What the price book says that a unit of a class costs, asked as a call of that much usage would be priced. */

import type { BillableCall } from '../../src/pricing/billable-call.ts';
import type { PriceBook } from '../../src/pricing/price-book.ts';
import { isValidAt } from '../../src/pricing/price-row.ts';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import { COUNTED_CLASSES, TOOL_CLASSES } from '../../src/vocabulary/token-usage.ts';
import { billableCall } from '../../test/support/billable-call.ts';
import type { CatalogRate } from './catalog.ts';

const SHORT_PROMPT = 1_000;
const MINUTE_MS = 60_000;
const PICO_PER_USD = 1e12;

export interface AskedAt {
  readonly book: PriceBook;
  readonly atMs: number;
}

function createCall(provider: ProviderName, model: string, atMs: number): BillableCall {
  return billableCall({ provider, model, modelRequested: model, requestedAtMs: atMs });
}

function quantityOf({ usageClass, overTokens }: Omit<CatalogRate, 'usd'>): {
  readonly count: number;
  readonly per: number;
} {
  if (usageClass === 'input_audio_ms') return { count: MINUTE_MS, per: MINUTE_MS };
  if (COUNTED_CLASSES.includes(usageClass) && usageClass !== 'input_characters') return { count: 1, per: 1 };
  return { count: (overTokens ?? 0) + SHORT_PROMPT, per: 1_000_000 };
}

/** USD for a million tokens, a minute, a picture, as in `CatalogRate`; null where the book does not know. */
export function askRate(
  { book, atMs }: AskedAt,
  provider: ProviderName,
  model: string,
  rate: Omit<CatalogRate, 'usd'>,
): number | null {
  const { count, per } = quantityOf(rate);
  const isOutput = rate.usageClass.startsWith('output') && rate.overTokens !== undefined;
  // A long prompt raises the rate of the output too.
  const classes = isOutput ? { input: count, [rate.usageClass]: count } : { [rate.usageClass]: count };
  const priced = book.priceCall({
    ...createCall(provider, model, atMs),
    isBatch: rate.tier === 'batch',
    serviceTier: rate.tier === 'batch' ? null : (rate.tier ?? null),
    usage: { classes, reasoning: null, native: {} },
  });
  const line = priced.lines.find((candidate) => candidate.class === rate.usageClass);
  if (line === undefined) return null;
  return ((Number(line.amount) * PICO_PER_USD) / count / PICO_PER_USD) * per;
}

/** Has it a price for anything but tools, which are the same on every model? */
export function isInBook({ book, atMs }: AskedAt, provider: ProviderName, model: string): boolean {
  const { rows } = book.findPrices({ provider, providerAlias: null, atMs }, model).prices;
  return rows.some((row) => isValidAt(row, atMs) && !TOOL_CLASSES.includes(row.usageClass));
}
