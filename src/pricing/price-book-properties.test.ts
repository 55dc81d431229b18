/** What holds for any call, whatever its model, terms and quantities. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { COUNTED_CLASSES, USAGE_CLASSES } from '../vocabulary/token-usage.ts';
import { parseUsd } from '../vocabulary/usd.ts';
import type { BillableCall } from './billable-call.ts';
import { MAX_MODELS_KEPT } from './model-prices.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();
const ALWAYS = { id: 1, providerAlias: null, validFromMs: null, validToMs: null } as const;
/** With a discount at two providers, and own prices of one model. */
const negotiated = createPriceBook({
  operator: {
    prices: [
      {
        ...ALWAYS,
        provider: 'openai',
        match: 'exact',
        model: 'gpt-audio',
        serviceTier: 'any',
        promptTier: null,
        rates: { input: '0.333333333', output: '7.77' },
      },
    ],
    mappings: [],
    multipliers: [
      { ...ALWAYS, provider: 'openai', factor: '0.873215' },
      { ...ALWAYS, provider: 'anthropic', factor: '0.15' },
    ],
  },
});

const CALL = billableCall({
  provider: 'openai',
  requestedAtMs: Date.UTC(2026, 8, 23, 12),
  model: 'gpt-4o-mini',
  modelRequested: 'gpt-4o-mini',
  usage: usageOf({ input: 1200, output: 350 }),
});

function createCall(changes: Partial<BillableCall>): BillableCall {
  return { ...CALL, ...changes };
}

describe('the price book', () => {
  const usages = fc
    .dictionary(fc.constantFrom(...USAGE_CLASSES), fc.nat({ max: 3_000_000 }))
    .map((classes) => usageOf(classes));
  const models = fc.constantFrom<readonly [BillableCall['provider'], string]>(
    ['openai', 'gpt-5.6-sol'],
    ['openai', 'gpt-audio'],
    ['anthropic', 'claude-opus-4-8'],
    ['anthropic', 'claude-haiku-5-5'],
    ['anthropic', 'claude-sonnet-4-5'],
    ['gemini', 'gemini-2.5-flash'],
    ['gemini', 'gemini-2.5-pro'],
    ['fireworks', 'accounts/fireworks/models/kimi-k2p6'],
    ['together', 'zai-org/GLM-5.2'],
    ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0'],
    ['deepseek', 'deepseek-v4-flash'],
  );
  const calls = fc.record({
    named: models,
    usage: usages,
    serviceTier: fc.constantFrom(null, 'default', 'flex', 'priority', 'batch'),
    speed: fc.constantFrom(null, 'fast'),
    inferenceGeo: fc.constantFrom(null, 'us'),
    requestedAtMs: fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) }),
  });
  type Named = { named: readonly [BillableCall['provider'], string] } & Partial<BillableCall>;
  const price = ({ named: [provider, model], ...rest }: Named, by = book) =>
    by.priceCall(createCall({ provider, model, modelRequested: model, ...rest }));

  it('makes the sum of the lines the known cost, and the total where there is one, negotiated or not', () => {
    fc.assert(
      fc.property(calls, fc.constantFrom(book, negotiated), (call, by) => {
        const priced = price(call, by);
        const sum = priced.lines.reduce((total, line) => total + parseUsd(line.amount), 0n);
        expect(priced.knownCost).toBe(sum);
        if (priced.costStatus === 'exact') {
          expect(priced.totalCost).toBe(sum);
          const { inputCost, cacheReadCost, cacheCreationCost, outputCost, otherCost } = priced;
          const parts = [inputCost, cacheReadCost, cacheCreationCost, outputCost, otherCost];
          expect(parts.reduce<bigint>((total, part) => total + (part ?? 0n), 0n)).toBe(sum);
        } else {
          expect(priced.totalCost).toBeNull();
        }
      }),
    );
  });

  /** The classes of one unit more, of the same prompt size: the tier stays. */
  const raised = fc.record({
    unit: fc.constantFrom(...USAGE_CLASSES),
    more: fc.integer({ min: 1, max: 3_000_000 }),
    largestPrompt: fc.constantFrom(1, 100_000, 100_001, 200_000, 200_001, 272_000, 272_001, 900_000),
  });

  it('never costs less when more of a class was used, whatever the tier, as long as it stays the same', () => {
    fc.assert(
      fc.property(calls, raised, fc.constantFrom(book, negotiated), (call, { unit, more, largestPrompt }, by) => {
        const { classes } = call.usage;
        const usage = { ...call.usage, largestPrompt };
        const before = price({ ...call, usage }, by);
        const after = price(
          { ...call, usage: { ...usage, classes: { ...classes, [unit]: (classes[unit] ?? 0) + more } } },
          by,
        );
        expect(after.knownCost >= before.knownCost).toBe(true);
        if (before.totalCost !== null && after.totalCost !== null)
          expect(after.totalCost >= before.totalCost).toBe(true);
        // One class was raised: the lines of all the others are what they were.
        const others = ({ lines }: typeof before) => lines.filter((line) => line.class !== unit);
        expect(others(after)).toEqual(others(before));
      }),
      { numRuns: 200 },
    );
  });

  it('never costs less when more was answered or counted: only the prompt chooses the tier', () => {
    const unprompted = USAGE_CLASSES.filter((unit) => unit.startsWith('output') || COUNTED_CLASSES.includes(unit));
    fc.assert(
      fc.property(calls, fc.constantFrom(...unprompted), fc.integer({ min: 1, max: 3_000_000 }), (call, unit, more) => {
        const { classes } = call.usage;
        const usage = { ...call.usage, classes: { ...classes, [unit]: (classes[unit] ?? 0) + more } };
        expect(price({ ...call, usage }).knownCost >= price(call).knownCost).toBe(true);
      }),
    );
  });

  it('doubles each amount when the quantities double, but for the rounding of a line', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }), (input, output) => {
        const once = price({ named: ['deepseek', 'deepseek-v4-pro'], usage: usageOf({ input, output }) });
        const twice = price({
          named: ['deepseek', 'deepseek-v4-pro'],
          usage: usageOf({ input: input * 2, output: output * 2 }),
        });
        expect(twice.knownCost - once.knownCost * 2n).toBe(0n);
      }),
    );
  });

  it('neither throws nor shows a cost on absurd quantities, names and times', () => {
    const absurd = fc.constantFrom(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, -0.1, 2 ** 53, 1e13);
    fc.assert(
      fc.property(
        absurd,
        fc.double(),
        fc.string(),
        fc.constantFrom(...PROVIDER_NAMES),
        (input, atMs, text, provider) => {
          const usage = usageOf({ input, output: 10 });
          const known = book.priceCall(createCall({ usage }));
          expect([known.costStatus, known.totalCost, known.knownCost]).toEqual(['partial', null, 6_000_000n]);
          const call = createCall({
            provider,
            model: text,
            modelRequested: text,
            serviceTier: text,
            speed: text,
            usage,
          });
          expect(book.priceCall({ ...call, requestedAtMs: atMs }).totalCost).toBeNull();
        },
      ),
    );
  });

  it('stays right when more models were asked for than are kept', () => {
    for (let index = 0; index <= MAX_MODELS_KEPT; index += 1) book.priceCall(createCall({ model: `made-up-${index}` }));
    expect(book.priceCall(CALL).totalCost).toBe(390_000_000n);
  });

  it('has the same version in every process with the same prices', () => {
    expect(createPriceBook().version).toBe(book.version);
    expect(book.version).toMatch(/^[0-9a-f]{16}$/);
  });
});
