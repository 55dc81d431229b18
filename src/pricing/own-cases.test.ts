/**
 * Further worked cases of the project's own: thresholds, dates, tiers, modalities and tools of every provider, with
 * their sources. The costs were computed from the published rates in whole numbers, and not by this code.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { comparableLines, expectedLines, readCostCases, toQuoteInput } from '../../test/support/cost-cases.ts';
import { quoteCall } from '../control/prices/quote/quote-call.ts';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import { createCatalog } from './catalog.ts';
import { createPriceBook } from './price-book.ts';

const NOW_MS = Date.UTC(2026, 10, 28);
const CASES = readCostCases('own-cases');
const book = createPriceBook();

const Sourced = z.object({
  sources: z.object({ agree: z.array(z.string().min(5)).min(1), disagree: z.array(z.string()) }),
  note: z.string().min(10),
  tags: z.array(z.string()).min(1),
});

describe('the worked cases of our own', () => {
  it('are more than a hundred, each with an id of its own, of every provider that has prices', () => {
    expect(CASES.length).toBeGreaterThan(100);
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
    const catalog = createCatalog();
    const priced = PROVIDER_NAMES.filter((name) => catalog.listModels(name).length > 0);
    expect(new Set(CASES.map(({ provider }) => provider))).toEqual(new Set(priced));
  });

  it('say each where its prices are from', () => {
    const text = readFileSync(new URL('./own-cases.json', import.meta.url), 'utf8');
    expect(z.array(Sourced).parse(JSON.parse(text))).toHaveLength(CASES.length);
  });

  it.each(CASES.map((ownCase) => [ownCase.id, ownCase] as const))('%s', (_id, ownCase) => {
    const quote = quoteCall(toQuoteInput(ownCase), book, NOW_MS);
    const total = quote.totalCost === null ? null : formatUsd(quote.totalCost);
    expect([quote.costStatus, total]).toEqual([ownCase.expected_status, ownCase.expected_cost_usd]);
    expect(formatUsd(quote.knownCost)).toBe(ownCase.expected_known_usd ?? ownCase.expected_cost_usd ?? '0');
    expect(comparableLines(quote.lines)).toEqual(expectedLines(ownCase));
    expect(quote.unread).toEqual([]);
  });
});
