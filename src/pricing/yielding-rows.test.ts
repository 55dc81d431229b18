/** What fills a hole yields to a catalog of a later day, in every tier. */
import { describe, expect, it } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import { changedCatalogText } from '../../test/support/catalog-text.ts';
import type { ClassQuantities } from '../vocabulary/token-usage.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import type { BillableCall } from './billable-call.ts';
import { createCatalog } from './catalog.ts';
import { parseCatalog } from './parse-catalog.ts';
import { createPriceBook, type PriceBook } from './price-book.ts';

function bookOf(checkedOn: string, ...changes: readonly (readonly [string, string])[]): PriceBook {
  const parsed = parseCatalog(changedCatalogText(...changes), 'newer.json', checkedOn);
  if (!parsed.isOk) throw new Error(parsed.problem);
  return createPriceBook({ catalog: createCatalog(parsed.data) });
}

const MILLION = 1_000_000;

function price(
  book: PriceBook,
  [provider, model, serviceTier]: readonly ['openai' | 'bedrock', string, string | null],
  classes: ClassQuantities,
  more: Partial<BillableCall> = {},
) {
  const { costStatus, totalCost } = book.priceCall(
    billableCall({ provider, model, modelRequested: model, serviceTier, usage: usageOf(classes), ...more }),
  );
  return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
}

const CODEX = '"equals":"gpt-5-3-codex"}]},"context_window":400000,"prices":{"input_mtok":1.75,';
const CHEAPER_CODEX = CODEX.replace('1.75', '1.25');
const OSS = '"contains":"openai.gpt-oss-20b-1"},"context_window":128000,"prices":{"input_mtok":';

describe('a price of a tier that the catalog lacks', () => {
  const codex = ['openai', 'gpt-5.3-codex', 'priority'] as const;
  const nova = ['bedrock', 'amazon.nova-pro-v1:0', 'flex'] as const;

  it('stays with a later catalog that has the same standard price beside it', () => {
    for (const book of [createPriceBook(), bookOf('2026-12-24')]) {
      expect(price(book, codex, { input: MILLION, cache_read: MILLION, output: MILLION })).toEqual(['exact', '31.85']);
      expect(price(book, nova, { input: MILLION, output: MILLION }, { region: 'us-east-1' })).toEqual(['exact', '2']);
    }
  });

  it('yields to a later catalog with another standard price: no old price of the tier is beside it', () => {
    const newer = bookOf('2026-12-24', [CODEX, CHEAPER_CODEX]);
    expect(price(newer, ['openai', 'gpt-5.3-codex', 'default'], { input: MILLION })).toEqual(['exact', '1.25']);
    expect(price(newer, codex, { input: MILLION })).toEqual(['unpriced', null]);
    // Nor is what is read from the cache then billed as input of the tier.
    expect(price(newer, codex, { cache_read: MILLION })).toEqual(['unpriced', null]);
    // Another model's tier is as it was.
    expect(price(newer, nova, { input: MILLION, output: MILLION }, { region: 'us-east-1' })).toEqual(['exact', '2']);
  });

  it('ends on the day on which the standard price changes', () => {
    const rest = '"cache_read_mtok":0.175,"output_mtok":14}';
    const dated = CODEX.replace('{"input_mtok":1.75,', `[{"prices":{"input_mtok":1.75,${rest}},`);
    const change = '{"constraint":{"type":"start_date","start_date":"2026-12-10"},"prices":{"input_mtok":1.25,';
    const newer = bookOf('2026-12-24', [`${CODEX}${rest}`, `${dated}${change}${rest}}]`]);
    const at = (day: string) => price(newer, codex, { input: MILLION }, { requestedAtMs: Date.parse(day) });
    expect(at('2026-12-09')).toEqual(['exact', '3.5']);
    expect(at('2026-12-10')).toEqual(['unpriced', null]);
  });

  it('yields for the prompts alone that the later catalog has another standard price for', () => {
    const tiers = '{"base":1.75,"tiers":[{"start":200000,"price":3.5}]},';
    const newer = bookOf('2026-12-24', [CODEX, CODEX.replace('1.75,', tiers)]);
    // 200,000 tokens at 3.5 dollars a million.
    expect(price(newer, codex, { input: 200_000 })).toEqual(['exact', '0.7']);
    expect(price(newer, codex, { input: 200_000, output: 1_000 })).toEqual(['exact', '0.728']);
    expect(price(newer, codex, { input: 300_000 })).toEqual(['unpriced', null]);
    // Nor have the other classes a price of the tier then.
    expect(price(newer, codex, { cache_read: 300_000 })).toEqual(['unpriced', null]);
  });

  it('yields where the later catalog has another standard price at some hours', () => {
    const rest = '"cache_read_mtok":0.175,"output_mtok":14}';
    const night = '{"constraint":{"start_time":"00:30:00Z","end_time":"08:30:00Z"},"prices":{"input_mtok":1.25,';
    const dated = CODEX.replace('{"input_mtok":1.75,', `[{"prices":{"input_mtok":1.75,${rest}},`);
    const newer = bookOf('2026-12-24', [`${CODEX}${rest}`, `${dated}${night}${rest}}]`]);
    expect(price(newer, codex, { input: MILLION })).toEqual(['unpriced', null]);
  });

  it('stays with a catalog that is not later than it', () => {
    const older = bookOf('2026-10-01', [CODEX, CHEAPER_CODEX]);
    expect(price(older, codex, { input: MILLION })).toEqual(['exact', '3.5']);
  });

  it('yields at a place where the catalog has another standard price, and stays at one where it has none', () => {
    const costOf = (book: PriceBook, region: string, isBatch: boolean) =>
      price(book, ['bedrock', 'openai.gpt-oss-20b-1:0', null], { input: MILLION }, { region, isBatch });
    const [same, newer] = [bookOf('2026-12-24'), bookOf('2026-12-24', [`${OSS}0.07,`, `${OSS}0.06,`])];
    expect(costOf(same, 'us-east-1', true)).toEqual(['exact', '0.035']);
    expect(costOf(newer, 'us-east-1', false)).toEqual(['exact', '0.06']);
    expect(costOf(newer, 'us-east-1', true)).toEqual(['unpriced', null]);
    expect(costOf(newer, 'us-gov-west-1', true)).toEqual(['exact', '0.042']);
  });
});

describe('the version of a price book', () => {
  it('is another one where the day of the catalog lets other prices yield, and only there', () => {
    const [older, between, later, latest] = ['2026-11-28', '2026-11-30', '2026-12-24', '2027-01-24'].map(
      (day) => bookOf(day).version,
    );
    expect(older).toBe(bookOf('2026-09-24').version);
    expect(between).not.toBe(older);
    expect(later).not.toBe(between);
    expect(latest).toBe(later);
  });
});
