/** What holds for any call, whatever its model, terms and quantities. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../call-record.ts';
import { type TokenUsage, USAGE_CLASSES } from '../token-usage.ts';
import { parseUsd } from '../usd.ts';
import type { BillableCall } from './billable-call.ts';
import { MAX_MODELS_KEPT } from './model-prices.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();

function createUsage(classes: TokenUsage['classes']): TokenUsage {
  return { classes, reasoning: null, native: {} };
}

const CALL: BillableCall = {
  provider: 'openai',
  providerAlias: null,
  endpoint: 'chat.completions',
  billed: true,
  isLater: false,
  requestedAtMs: Date.UTC(2026, 8, 23, 12),
  model: 'gpt-4o-mini',
  modelRequested: 'gpt-4o-mini',
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  region: null,
  isBatch: false,
  outcome: 'ok',
  errorType: null,
  status: 200,
  usage: createUsage({ input: 1200, output: 350 }),
  usageSource: 'provider',
};

function createCall(changes: Partial<BillableCall>): BillableCall {
  return { ...CALL, ...changes };
}

describe('the price book', () => {
  const usages = fc
    .dictionary(fc.constantFrom(...USAGE_CLASSES), fc.nat({ max: 3_000_000 }))
    .map((classes) => createUsage(classes));
  const models = fc.constantFrom<readonly [BillableCall['provider'], string]>(
    ['openai', 'gpt-5.6-sol'],
    ['openai', 'gpt-audio'],
    ['anthropic', 'claude-opus-4-8'],
    ['gemini', 'gemini-2.5-flash'],
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
  const price = ({
    named: [provider, model],
    ...rest
  }: { named: readonly [BillableCall['provider'], string] } & Partial<BillableCall>) =>
    book.priceCall(createCall({ provider, model, modelRequested: model, ...rest }));

  it('makes the sum of the lines the known cost, and the total where there is one', () => {
    fc.assert(
      fc.property(calls, (call) => {
        const priced = price(call);
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

  it('doubles each amount when the quantities double, but for the rounding of a line', () => {
    fc.assert(
      fc.property(fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }), (input, output) => {
        const once = price({ named: ['deepseek', 'deepseek-v4-pro'], usage: createUsage({ input, output }) });
        const twice = price({
          named: ['deepseek', 'deepseek-v4-pro'],
          usage: createUsage({ input: input * 2, output: output * 2 }),
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
          const usage = createUsage({ input, output: 10 });
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
