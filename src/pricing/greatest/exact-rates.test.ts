/** The short way to a call's cost says what the price book says, or nothing. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listAskedCalls } from '../../../test/support/asked-calls.ts';
import { USAGE_CLASSES, type UsageClass } from '../../vocabulary/token-usage.ts';
import { createPriceBook } from '../price-book.ts';
import type { BilledBegin, BilledEnd } from '../to-billable-call.ts';
import { ExactRates } from './exact-rates.ts';
import { settledCostOf } from './settled-cost.ts';

const BOOK = createPriceBook();
const NOON_MS = Date.UTC(2026, 10, 28, 12);

const BEGIN: BilledBegin = {
  provider: 'openai',
  providerAlias: null,
  endpoint: 'chat.completions',
  billed: true,
  requestedAtMs: NOON_MS,
  region: null,
  isBatch: false,
};
const END: BilledEnd = {
  model: null,
  modelRequested: 'gpt-4o-mini',
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  outcome: 'ok',
  status: 200,
  errorType: null,
  usage: null,
  usageSource: 'provider',
  flags: [],
};

function ended(classes: Readonly<Partial<Record<UsageClass, number>>>, more: Partial<BilledEnd> = {}): BilledEnd {
  return { ...END, usage: { classes, reasoning: null, native: {} }, ...more };
}

it('is the cost of recorded answers and worked cases, for most of them', async () => {
  const rates = new ExactRates(BOOK);
  const known = (await listAskedCalls()).flatMap(({ name, begin, end }) => {
    const cost = rates.costOf(begin, end);
    return cost === null
      ? []
      : [{ name, cost: { kind: 'exact', amount: cost }, settled: settledCostOf(begin, end, BOOK) }];
  });
  for (const { name, cost, settled } of known) expect({ name, settled }).toEqual({ name, settled: cost });
  expect(known.length).toBeGreaterThan(200);
});

it.each([
  ['openai', 'gpt-4o-mini'],
  ['openai', 'gpt-5'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['gemini', 'gemini-2.5-pro'],
  ['bedrock', 'eu.amazon.nova-lite-v1:0'],
  ['deepseek', 'deepseek-chat'],
] as const)('is the cost of any usage of %s %s, at any time and in any terms', (provider, modelRequested) => {
  const rates = new ExactRates(BOOK);
  const count = fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: 0, max: 400_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 10 ** 12 }) },
    fc.constant(-1),
  );
  const usageClass = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('input', 'cache_read', 'cache_creation_5m', 'output') },
    fc.constantFrom(...USAGE_CLASSES),
  );
  let known = 0;
  fc.assert(
    fc.property(
      fc.dictionary(usageClass, count, { maxKeys: 4 }),
      fc.constantFrom(null, null, 'default', 'priority', 'made-up'),
      fc.integer({ min: NOON_MS - 400 * 86_400_000, max: NOON_MS }),
      (classes, serviceTier, requestedAtMs) => {
        const begin = { ...BEGIN, provider, requestedAtMs };
        const end = ended(classes, { modelRequested, serviceTier });
        const cost = rates.costOf(begin, end);
        if (cost === null) return;
        known += 1;
        expect(settledCostOf(begin, end, BOOK)).toEqual({ kind: 'exact', amount: cost });
      },
    ),
    { numRuns: 300 },
  );
  expect(known).toBeGreaterThan(30);
});

it('leaves to the price book what is not the sum of its tokens', () => {
  const rates = new ExactRates(BOOK);
  const usual = { input: 1_000, output: 10 };
  expect(rates.costOf(BEGIN, ended(usual))).toBe(1_000n * 150_000n + 10n * 600_000n);
  const unusual: readonly (readonly [Partial<BilledBegin>, BilledEnd])[] = [
    [{ billed: false }, ended(usual)],
    [{ isBatch: true }, ended(usual)],
    [{}, ended(usual, { outcome: 'client_closed' })],
    [{}, ended(usual, { usageSource: 'partial' })],
    [{}, ended(usual, { flags: ['usage_later'] })],
    [{}, ended(usual, { modelRequested: 'nobody-knows' })],
    [{}, ended({ ...usual, web_search_requests: 1 })],
    [{}, ended({})],
    [{}, ended(usual, { usage: { classes: usual, reasoning: null, native: {}, isIncomplete: true } })],
  ];
  expect(unusual.map(([begin, end]) => rates.costOf({ ...BEGIN, ...begin }, end))).toEqual(unusual.map(() => null));
});

it('follows a price that changes in the middle of a minute', () => {
  const changesAtMs = NOON_MS + 30_500;
  const declared = {
    id: 1,
    provider: 'openai',
    providerAlias: null,
    match: 'exact',
    model: 'gpt-4o-mini',
    serviceTier: 'any',
    promptTier: null,
    rates: { input: '2', output: '4' },
    validFromMs: changesAtMs,
    validToMs: null,
  } as const;
  const rates = new ExactRates(createPriceBook({ operator: { prices: [declared], mappings: [], multipliers: [] } }));
  const costAt = (requestedAtMs: number) => rates.costOf({ ...BEGIN, requestedAtMs }, ended({ input: 1 }));
  expect([costAt(NOON_MS), costAt(changesAtMs - 1), costAt(changesAtMs)]).toEqual([150_000n, 150_000n, 2_000_000n]);
});
