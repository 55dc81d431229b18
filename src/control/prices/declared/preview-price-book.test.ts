import { expect, test } from 'vitest';
import { NO_OPERATOR_PRICES, type OperatorPrice, type OperatorPrices } from '../../../pricing/operator-prices.ts';
import type { Declaration } from './declaration.ts';
import { editPrices } from './preview-price-book.ts';

const OVERRIDE = {
  kind: 'override',
  provider: 'openai',
  provider_alias: null,
  match: 'exact',
  model: 'm',
  service_tier: 'standard',
  over_tokens: null,
  up_to_tokens: 200_000,
  rates: { input: '1' },
  valid_from: '2026-11-01T00:00:00.000Z',
  valid_to: null,
  note: null,
} as const satisfies Declaration;

const STORED: OperatorPrice = {
  id: 7,
  provider: 'openai',
  providerAlias: null,
  match: 'exact',
  model: 'M',
  serviceTier: 'standard',
  promptTier: { overTokens: -1, upToTokens: 200_000 },
  rates: { output: '9' },
  validFromMs: Date.UTC(2026, 10, 1),
  validToMs: null,
};

test('a declaration takes the place of the one with its key, as when it is saved', () => {
  const before: OperatorPrices = { ...NO_OPERATOR_PRICES, prices: [STORED] };
  const { prices } = editPrices(before, { add: OVERRIDE, remove: null });
  expect(prices).toEqual([{ ...STORED, id: Number.MAX_SAFE_INTEGER, model: 'm', rates: { input: '1' } }]);
});

test('one of another time, size or alias stays beside it', () => {
  const others = [
    { ...STORED, validFromMs: null },
    { ...STORED, promptTier: null },
    { ...STORED, providerAlias: 'eu' },
  ];
  const { prices } = editPrices({ ...NO_OPERATOR_PRICES, prices: others }, { add: OVERRIDE, remove: null });
  expect(prices).toHaveLength(4);
});

test('what is removed is gone, by kind and number', () => {
  const before: OperatorPrices = {
    prices: [STORED],
    mappings: [{ ...STORED, billingModel: 'n' }],
    multipliers: [{ ...STORED, factor: '0.5' }],
  };
  expect(editPrices(before, { add: null, remove: { kind: 'mapping', id: 7 } })).toEqual({ ...before, mappings: [] });
  expect(editPrices(before, { add: null, remove: { kind: 'multiplier', id: 8 } })).toEqual(before);
});
