/** When a call counts as changed, and that reading less of it changes no price. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { type PricedRow, repriceCall } from './reprice-call.ts';

const { priceCall, version } = createPriceBook();

function row(changes: Partial<PricedRow> = {}): PricedRow {
  return {
    id: '019ac9f0-0000-7000-8000-000000000001',
    requested_at: new Date('2026-11-28T12:00:00Z'),
    account_id: 1,
    provider: 'openai',
    provider_alias: null,
    endpoint: 'chat.completions',
    model: 'gpt-5',
    model_requested: 'gpt-5',
    service_tier: 'default',
    speed: null,
    inference_geo: null,
    region: null,
    is_batch: false,
    outcome: 'ok',
    status: 200,
    error_type: null,
    usage: { input: 1_000_000, output: 1_000_000 },
    native_usage: null,
    reasoning_tokens: null,
    usage_source: 'provider',
    flags: [],
    billing_model: 'gpt-5',
    cost_status: 'exact',
    input_cost: '1.250000000000',
    cache_read_cost: null,
    cache_creation_cost: null,
    output_cost: '10.000000000000',
    other_cost: null,
    total_cost: '11.250000000000',
    known_cost: '11.250000000000',
    price_version: 'an older one',
    priced_at: new Date('2026-11-28T12:00:01Z'),
    estimated_tokens: null,
    estimated_cost: null,
    ...changes,
  };
}

test('the same money from another price book is no change; another part, status or model is', () => {
  expect(repriceCall(row(), priceCall).isChanged).toBe(false);
  expect(repriceCall(row({ input_cost: '1.25', output_cost: '10' }), priceCall).isChanged).toBe(false);
  expect(repriceCall(row({ cache_read_cost: '0' }), priceCall).isChanged).toBe(true);
  expect(repriceCall(row({ total_cost: '11.250000000001' }), priceCall).isChanged).toBe(true);
  expect(repriceCall(row({ total_cost: null, cost_status: 'partial' }), priceCall).isChanged).toBe(true);
  expect(repriceCall(row({ billing_model: 'gpt-5-2025-08-07' }), priceCall).isChanged).toBe(true);
  expect(repriceCall(row({ input_cost: null }), priceCall).priced).toMatchObject({
    inputCost: 1_250_000_000_000n,
    totalCost: 11_250_000_000_000n,
    priceVersion: version,
  });
});

test('a cost that the column cannot hold leaves the call as it is', () => {
  const usage = { output: 1_000_000_000_000 };
  const dear = createPriceBook({
    operator: {
      prices: [
        {
          id: 1,
          provider: 'openai',
          providerAlias: null,
          validFromMs: null,
          validToMs: null,
          match: 'exact',
          model: 'gpt-5',
          serviceTier: 'any',
          promptTier: null,
          rates: { output: '2000000' },
        },
      ],
      mappings: [],
      multipliers: [],
    },
  });
  const unpriced = row({ usage, cost_status: 'unpriced', total_cost: null, known_cost: null });
  expect(repriceCall(unpriced, dear.priceCall).priced.knownCost).toBeGreaterThan(10n ** 24n);
  expect(repriceCall(unpriced, dear.priceCall).isChanged).toBe(false);
});

test("no price depends on the provider's own usage object, which is not read for it", () => {
  const pricing = join(import.meta.dirname, '..', '..', '..', 'pricing');
  const readers = readdirSync(pricing)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => /\.native\b|\bnative,|\{ native\b/.test(readFileSync(join(pricing, name), 'utf8')));
  expect(readers).toEqual([]);
});
