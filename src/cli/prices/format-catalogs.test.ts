import { expect, it } from 'vitest';
import { type CatalogImport, formatImport, formatPriceStatus, type PriceStatus } from './format-catalogs.ts';

const BUNDLED = { origin: 'bundled', name: 'genai-prices 1', checked_on: '2026-09-23', age_days: 66, models: 376 };
const STATUS: PriceStatus = {
  price_version: '0123456789abcdef',
  catalog: {
    origin: 'feed',
    name: 'https://prices.example/data.json',
    checked_on: '2026-11-27',
    age_days: 1,
    models: 380,
  },
  bundled: BUNDLED,
  overlay: { rows: 259, checked_on: '2026-11-28' },
  declarations: { overrides: 1, mappings: 0, multipliers: 2 },
  unpriced: { calls: 12, models: 1 },
  feed: {
    setting: 'https://prices.example/data.json',
    checked_at: '2026-11-28T12:00:00.000Z',
    result: 'refused',
    detail: 'openai gpt-5: \u001b[2J\nand 3 more',
  },
  warnings: ['12 calls of the last 30 days have no price'],
};

it('the status of prices fits on a screen and commands no terminal', () => {
  expect([...formatPriceStatus(STATUS)]).toEqual([
    'catalog        https://prices.example/data.json (from the price feed), 380 models, of 2026-11-27, 1 day old',
    'bundled        genai-prices 1 (comes with the gateway), 376 models, of 2026-09-23, 66 days old',
    'overlay        259 rows, of 2026-11-28',
    'declared       1 price, 0 mappings, 2 discounts',
    'price version  0123456789abcdef',
    'feed           https://prices.example/data.json, refused at 2026-11-28T12:00:00.000Z',
    '               openai gpt-5: \\x1b[2J',
    '               and 3 more',
    'unpriced       12 calls of 1 model in 30 days',
    '! 12 calls of the last 30 days have no price',
  ]);
});

it('an import is shown as what it adds, loses, changes and gets wrong, long lists cut', () => {
  const rate = { provider: 'openai', model: 'gpt-5', before: '1.25', per: 1_000_000, from: null, over_tokens: null };
  const trial: CatalogImport = {
    outcome: 'would_refuse',
    added_models: {
      count: 400,
      first: Array.from({ length: 200 }, (_, index) => ({ provider: 'openai', model: `gpt-${index}` })),
    },
    lost_models: { count: 1, first: [{ provider: 'openai', model: 'davinci' }] },
    changed_rates: {
      count: 2,
      first: [
        { ...rate, class: 'input', after: '0', from: '2026-12-01T00:00:00.000Z', over_tokens: 272_000 },
        { ...rate, class: 'web_search_requests', before: null, after: '10', per: 1_000 },
      ],
    },
    refusals: { count: 1, first: [{ text: 'openai gpt-5: input would be free; it costs $1.25 a million' }] },
    price_version: '0123456789abcdef',
  };
  expect([...formatImport(trial)]).toEqual([
    'new models: 400',
    ...Array.from({ length: 20 }, (_, index) => `  openai gpt-${index}`),
    '  and 380 more',
    'models without a price: 1',
    '  openai davinci',
    'changed rates: 2',
    '  openai gpt-5: input over 272000 prompt tokens from 2026-12-01 $1.25 -> $0 a million',
    '  openai gpt-5: web_search_requests no price -> $10 a thousand',
    'looks wrong: 1',
    '  openai gpt-5: input would be free; it costs $1.25 a million',
  ]);
});
