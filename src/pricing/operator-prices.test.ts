/** What the operator declares, through the price book: which declaration counts, and what it leaves as it is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import type { BillableCall } from './billable-call.ts';
import {
  NO_OPERATOR_PRICES,
  type OperatorMapping,
  type OperatorPrice,
  type OperatorPrices,
} from './operator-prices.ts';
import { createPriceBook } from './price-book.ts';

const NOON_MS = Date.UTC(2026, 10, 28, 12);
const EVER = { provider: 'openai', providerAlias: null, validFromMs: null, validToMs: null } as const;

function price(id: number, input: string, more: Partial<OperatorPrice> = {}): OperatorPrice {
  const terms = { match: 'exact', model: 'gpt-5', serviceTier: 'standard', promptTier: null } as const;
  return { ...EVER, id, ...terms, rates: { input }, ...more };
}

function map(id: number, model: string, billingModel: string, more: Partial<OperatorMapping> = {}): OperatorMapping {
  return { ...EVER, id, match: 'exact', model, billingModel, ...more };
}

function call(more: Partial<BillableCall> = {}): BillableCall {
  return billableCall({
    provider: 'openai',
    endpoint: 'responses',
    requestedAtMs: NOON_MS,
    model: 'gpt-5',
    modelRequested: 'gpt-5',
    usage: { classes: { input: 1_000_000 }, reasoning: null, native: {} },
    ...more,
  });
}

function used(classes: NonNullable<BillableCall['usage']>['classes']): Pick<BillableCall, 'usage'> {
  return { usage: usageOf(classes) };
}

/** What a million tokens of input cost. */
function costOf(operator: Partial<OperatorPrices>, more: Partial<BillableCall> = {}): string | null {
  const { totalCost } = createPriceBook({ operator: { ...NO_OPERATOR_PRICES, ...operator } }).priceCall(call(more));
  return totalCost === null ? null : formatUsd(totalCost);
}

describe('which declared price counts', () => {
  test('one before what comes with the gateway, for the classes that it names', () => {
    expect(costOf({})).toBe('1.25');
    expect(costOf({ prices: [price(1, '7')] })).toBe('7');
    const both = { prices: [price(1, '7')] };
    expect(costOf(both, used({ output: 1_000_000 }))).toBe('10');
  });

  test('an exact id before a prefix, a longer prefix before a shorter one', () => {
    const prices = [
      price(1, '5', { model: 'GPT-5' }),
      price(2, '3', { match: 'prefix', model: 'gpt-' }),
      price(3, '4', { match: 'prefix', model: 'gpt-5-' }),
    ];
    expect(costOf({ prices })).toBe('5');
    expect(costOf({ prices }, { model: 'gpt-5-mini' })).toBe('4');
    expect(costOf({ prices }, { model: 'gpt-4.1' })).toBe('3');
    expect(costOf({ prices }, { model: 'o3' })).toBe('2');
  });

  test('a declared prefix reaches over version numbers, as it was typed', () => {
    expect(costOf({ prices: [price(1, '3', { match: 'prefix', model: 'house-1' })] }, { model: 'house-1-5' })).toBe(
      '3',
    );
  });

  test('one for the alias before one for all, even a prefix before an exact id', () => {
    const prices = [price(1, '5'), price(2, '6', { match: 'prefix', model: '', providerAlias: 'eu' })];
    expect(costOf({ prices }, { providerAlias: 'eu' })).toBe('6');
    expect(costOf({ prices }, { providerAlias: 'us' })).toBe('5');
    expect(costOf({ prices })).toBe('5');
  });

  test('by the time of the call: from the first instant, until before the last', () => {
    const prices = [price(1, '5'), price(2, '6', { validFromMs: NOON_MS, validToMs: NOON_MS + 1_000 })];
    const at = (requestedAtMs: number) => costOf({ prices }, { requestedAtMs });
    expect([at(NOON_MS - 1), at(NOON_MS), at(NOON_MS + 999), at(NOON_MS + 1_000)]).toEqual(['5', '6', '6', '5']);
  });

  test('by the terms of the call; for any tier means whatever they are', () => {
    const batch = [price(1, '6', { serviceTier: 'batch' })];
    expect(costOf({ prices: batch }, { isBatch: true })).toBe('6');
    expect(costOf({ prices: batch })).toBe('1.25');
    const standard = [price(1, '6')];
    expect(costOf({ prices: standard }, { isBatch: true })).toBe('3');
    const any = [price(1, '6', { serviceTier: 'any' })];
    expect(costOf({ prices: any }, { isBatch: true })).toBe('6');
    expect(costOf({ prices: any }, { serviceTier: 'scale' })).toBe('6');
    expect(costOf({ prices: standard }, { serviceTier: 'scale' })).toBeNull();
  });

  test('by the size of the prompt: more than the lower bound, at most the upper one', () => {
    const prices = [
      price(1, '5', { promptTier: { overTokens: -1, upToTokens: 1_000 } }),
      price(2, '6', { promptTier: { overTokens: 1_000, upToTokens: 2_000 } }),
    ];
    const sized = (input: number) => costOf({ prices }, used({ input }));
    expect([sized(1_000), sized(1_001), sized(2_000), sized(2_001)]).toEqual([
      '0.005',
      '0.006006',
      '0.012',
      // Beyond the declared sizes the list price counts.
      '0.00250125',
    ]);
  });

  test('one that is bound to sizes before one that is not, whichever was declared last', () => {
    const long = price(1, '6', { promptTier: { overTokens: 200_000, upToTokens: Number.MAX_SAFE_INTEGER } });
    const longest = price(2, '8', { promptTier: { overTokens: 500_000, upToTokens: Number.MAX_SAFE_INTEGER } });
    const plain = price(3, '5', { validFromMs: NOON_MS - 1 });
    for (const prices of [
      [long, longest, plain],
      [plain, { ...longest, id: 4 }, { ...long, id: 5 }],
    ]) {
      const sized = (input: number) => costOf({ prices }, used({ input }));
      expect([sized(200_000), sized(300_000), sized(1_000_000)]).toEqual(['1', '1.8', '8']);
    }
  });

  test('one for the tier before one for any tier, and a nearer one for any tier before a wider one for the tier', () => {
    const any = price(2, '6', { serviceTier: 'any' });
    const batch = price(1, '4', { serviceTier: 'batch' });
    const standard = price(3, '5', { match: 'prefix', model: 'gpt-' });
    const prices = [any, batch, standard];
    expect(costOf({ prices }, { isBatch: true })).toBe('4');
    expect(costOf({ prices })).toBe('6');
    expect(costOf({ prices }, { serviceTier: 'scale' })).toBe('6');
    expect(costOf({ prices: [any, price(3, '5')] })).toBe('5');
  });

  test('what is no token by the declared tier as well, and for all tiers where none is named', () => {
    const searched = used({ web_search_requests: 1_000 });
    const searches = (rate: string, more: Partial<OperatorPrice> = {}) =>
      price(1, '9', { rates: { web_search_requests: rate }, ...more });
    const inBatches = [searches('4', { serviceTier: 'batch' })];
    expect(costOf({ prices: inBatches }, { ...searched, isBatch: true })).toBe('4');
    expect(costOf({ prices: inBatches }, searched)).toBe('10');
    expect(costOf({ prices: [searches('6')] }, { ...searched, isBatch: true })).toBe('6');
    const abroad = { provider: 'anthropic', model: 'claude-opus-5', inferenceGeo: 'us', isBatch: true } as const;
    const own = [searches('4', { provider: 'anthropic', model: 'claude-opus-5', serviceTier: 'batch' })];
    expect(costOf({ prices: own }, { ...searched, ...abroad })).toBe('4');
  });

  test('the most specific one of any set', () => {
    const model = fc.constantFrom('g', 'gp', 'gpt-5', 'gpt-5-mini');
    const entry = fc.record({
      model,
      match: fc.constantFrom('exact', 'prefix'),
      alias: fc.constantFrom(null, 'eu'),
      from: fc.constantFrom(null, NOON_MS - 2, NOON_MS - 1, NOON_MS + 1),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), fc.constantFrom(null, 'eu', 'us'), (entries, providerAlias) => {
        const prices = entries.map((each, index) => {
          const scope = { match: each.match, model: each.model, providerAlias: each.alias, validFromMs: each.from };
          return price(index + 1, String(index + 100), scope);
        });
        // By hand: the sieves of the documentation, one after the other.
        let left = prices.filter(
          (each) =>
            (each.providerAlias === null || each.providerAlias === providerAlias) &&
            (each.validFromMs === null || each.validFromMs <= NOON_MS) &&
            (each.match === 'exact' ? each.model === 'gpt-5' : 'gpt-5'.startsWith(each.model)),
        );
        const sieves: ((each: OperatorPrice) => number)[] = [
          (each) => (each.providerAlias === null ? 0 : 1),
          (each) => (each.match === 'exact' ? 1 : 0),
          (each) => each.model.length,
          (each) => each.validFromMs ?? 0,
          (each) => each.id,
        ];
        for (const sieve of sieves) {
          const best = Math.max(...left.map(sieve));
          left = left.filter((each) => sieve(each) === best);
        }
        expect(costOf({ prices }, { providerAlias })).toBe(left[0]?.rates.input ?? '1.25');
      }),
    );
  });
});

describe('what a declared price does not change', () => {
  test('a name that is longer than names are has no price, also of a model that only took part', () => {
    const prices = [price(1, '1', { match: 'prefix', model: 'x' })];
    const tookPart = (model: string) => {
      const others = [{ purpose: 'turn', model, classes: { input: 1_000_000 } }];
      return { usage: { classes: { input: 1_000_000 }, reasoning: null, native: {}, others } };
    };
    expect(costOf({ prices }, tookPart('x'.repeat(512)))).toBe('2.25');
    expect(costOf({ prices }, tookPart('x'.repeat(513)))).toBeNull();
  });

  test("the provider's rules: a one-hour write is twice the declared input", () => {
    const bedrock = price(4, '2', { provider: 'bedrock', model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0' });
    const priced = createPriceBook({ operator: { ...NO_OPERATOR_PRICES, prices: [bedrock] } }).priceCall(
      call({
        provider: 'bedrock',
        endpoint: 'converse',
        model: null,
        modelRequested: bedrock.model,
        ...used({ cache_creation_1h: 1_000 }),
      }),
    );
    expect(priced.lines).toEqual([
      {
        class: 'cache_creation_1h',
        quantity: 1_000,
        unit: 'token',
        rate: '2',
        per: 1_000_000,
        multiplier: '2',
        amount: '0.004',
        layer: 'override',
        rated_as: 'input',
        row: `override/bedrock/${bedrock.model}#4/input × overlay/bedrock/claude-1h-write`,
      },
    ]);
  });

  test('a declared price of a name outranks the model that the provider serves under it', () => {
    const deepseek = { provider: 'deepseek', model: 'deepseek-chat', modelRequested: 'deepseek-chat' } as const;
    const listed = costOf({}, deepseek);
    const served = [price(1, '9', { provider: 'deepseek', model: 'deepseek-flash' })];
    const named = [...served, price(2, '7', { provider: 'deepseek', model: 'deepseek-chat' })];
    expect(listed).not.toBe('9');
    expect(costOf({ prices: served }, deepseek)).toBe('9');
    expect(costOf({ prices: named }, deepseek)).toBe('7');
  });
});

describe('discounts', () => {
  const multipliers = [{ ...EVER, id: 3, factor: '0.85' }];

  test('are on list prices, and say so in the line', () => {
    const { lines } = createPriceBook({ operator: { ...NO_OPERATOR_PRICES, multipliers } }).priceCall(call());
    expect(lines).toEqual([
      expect.objectContaining({
        rate: '1.25',
        multiplier: '0.85',
        amount: '1.0625',
        layer: 'override',
        row: 'catalog/openai/gpt-5/input × override/openai/discount#3',
      }),
    ]);
    expect(costOf({ multipliers }, { isBatch: true })).toBe('0.53125');
  });

  test('leave declared prices and other providers as they are', () => {
    expect(costOf({ multipliers, prices: [price(1, '7')] })).toBe('7');
    expect(costOf({ multipliers: [{ ...EVER, id: 3, factor: '0.5', provider: 'together' }] })).toBe('1.25');
  });

  test('of an alias take the place of those of the provider, a later one that of an earlier one', () => {
    const several = [
      ...multipliers,
      { ...EVER, id: 4, factor: '0.8', validFromMs: NOON_MS },
      { ...EVER, id: 5, factor: '0.5', providerAlias: 'eu' },
    ];
    expect(costOf({ multipliers: several })).toBe('1');
    expect(costOf({ multipliers: several }, { requestedAtMs: NOON_MS - 1 })).toBe('1.0625');
    expect(costOf({ multipliers: several }, { providerAlias: 'eu' })).toBe('0.625');
  });
});

describe('mappings', () => {
  const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3';
  const profile = { provider: 'bedrock', endpoint: 'converse', model: null, modelRequested: ARN } as const;

  test('an opaque id is billed as the model that it is mapped to, at its declared price too', () => {
    const target = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
    const mappings = [map(1, ARN, target, { provider: 'bedrock' })];
    expect(costOf({}, profile)).toBeNull();
    expect(costOf({ mappings }, profile)).toBe('1.1');
    expect(costOf({ mappings, prices: [price(2, '0.9', { provider: 'bedrock', model: target })] }, profile)).toBe(
      '0.9',
    );
    const priced = createPriceBook({ operator: { ...NO_OPERATOR_PRICES, mappings } }).priceCall(call(profile));
    expect(priced.billingModel).toBe(target);
  });

  test('every id under an alias is billed as one model, but for those that are named', () => {
    const mappings = [
      map(1, '', 'gpt-5', { match: 'prefix', providerAlias: 'house' }),
      map(2, 'small', 'gpt-5-mini', { providerAlias: 'house' }),
    ];
    const under = (model: string, providerAlias: string | null) =>
      costOf({ mappings }, { model, modelRequested: model, providerAlias });
    expect([under('x', 'house'), under('small', 'house'), under('x', null)]).toEqual(['1.25', '0.25', null]);
  });
});
