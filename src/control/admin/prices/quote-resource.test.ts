import { describe, expect, it } from 'vitest';
import { bareAdminDeps } from '../../../../test/support/admin-deps.ts';
import { createCurrentPriceBook } from '../../prices/declared/current-price-book.ts';
import { createAdminApp } from '../admin-app.ts';

const prices = createCurrentPriceBook();
/** A quote needs no database. */
const app = createAdminApp(bareAdminDeps({ adminToken: 'token', prices }));

async function ask(question: object): Promise<{ status: number; body: unknown }> {
  const answer = await app.request('http://127.0.0.1/api/v1/prices/quote', {
    method: 'POST',
    headers: { host: '127.0.0.1', authorization: 'Bearer token', 'content-type': 'application/json' },
    body: JSON.stringify(question),
  });
  return { status: answer.status, body: await answer.json() };
}

const WORKED_CASE = {
  id: 'openai-16',
  provider: 'openai',
  endpoint: 'POST /v1/responses',
  model: 'gpt-5',
  requested_at: '2026-09-23T12:00:00Z',
  context: {},
  usage: { input_tokens: 9000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1200, total_tokens: 10200 },
  response: {
    service_tier: 'default',
    output: [{ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'a' } }],
    tools: [{ type: 'image_generation', model: 'gpt-image-99' }],
    tool_usage: { image_gen: { input_tokens: 7, input_tokens_details: { text_tokens: 7 }, output_tokens: 9 } },
  },
  expected_cost_usd: null,
  expected_components: null,
  sources: { agree: [], disagree: [] },
  note: 'a whole entry of the worked cases',
  tags: ['web_search'],
};

describe('POST /api/v1/prices/quote', () => {
  it('answers with the cost as a record would have it, and with what has no price', async () => {
    expect(await ask(WORKED_CASE)).toEqual({
      status: 200,
      body: {
        total_cost: null,
        known_cost: '0.03325',
        cost_status: 'partial',
        cost_lines: [
          {
            class: 'input',
            quantity: 9000,
            unit: 'token',
            rate: '1.25',
            per: 1000000,
            multiplier: '1',
            amount: '0.01125',
            layer: 'catalog',
            row: 'catalog/openai/gpt-5/input',
            rated_as: 'input',
          },
          {
            class: 'output',
            quantity: 1200,
            unit: 'token',
            rate: '10',
            per: 1000000,
            multiplier: '1',
            amount: '0.012',
            layer: 'catalog',
            row: 'catalog/openai/gpt-5/output',
            rated_as: 'output',
          },
          {
            class: 'web_search_requests',
            quantity: 1,
            unit: 'request',
            rate: '10',
            per: 1000,
            multiplier: '1',
            amount: '0.01',
            layer: 'catalog',
            row: 'catalog/openai/gpt-5/web_search_requests',
            rated_as: 'web_search_requests',
          },
        ],
        price_version: prices.book(1).version,
        billing_model: 'gpt-5',
        usage: { input: 9000, cache_read: 0, output: 1200, web_search_requests: 1 },
        other_usage: [
          { purpose: 'image_generation', model: 'gpt-image-99', usage: { input: 7, output: 0, output_image: 9 } },
        ],
        unpriced: [
          {
            class: 'input',
            quantity: 7,
            model: 'gpt-image-99',
            purpose: 'image_generation',
            reason: 'the price book does not know gpt-image-99 at openai',
          },
          {
            class: 'output_image',
            quantity: 9,
            model: 'gpt-image-99',
            purpose: 'image_generation',
            reason: 'the price book does not know gpt-image-99 at openai',
          },
        ],
        unread: [],
        notes: [],
      },
    });
  });

  it('prices at the moment asked for, and now without one', async () => {
    const question = { provider: 'gemini', model: 'gemini-3.7-flash', classes: { input: 10_000, output: 1_000 } };
    const before = await ask({ ...question, requested_at: '2026-09-23T12:00:00Z' });
    const now = await ask({ ...question, requested_at: new Date().toISOString() });
    expect(before.body).toMatchObject({ cost_status: 'exact' });
    expect(await ask(question)).toEqual(now);
  });

  it.each<[string, object, string, RegExp]>([
    [
      'a provider that is none',
      { provider: 'openia', classes: { input: 1 } },
      'invalid_request',
      /^provider: write one of/,
    ],
    ['a field that is none', { provider: 'openai', usge: {} }, 'invalid_request', /usge/],
    ['a class that is none', { provider: 'openai', classes: { inputs: 1 } }, 'invalid_request', /^classes: .*inputs/],
    ['a part of a token', { provider: 'openai', classes: { input: 0.5 } }, 'invalid_request', /^classes.input: /],
    ['usage that is no object', { provider: 'openai', usage: [] }, 'invalid_request', /^usage: write a JSON object/],
    [
      'a time that is none',
      { provider: 'openai', classes: {}, requested_at: 'June' },
      'invalid_request',
      /requested_at/,
    ],
    ['usage without an endpoint', { provider: 'openai', usage: {} }, 'invalid_request', /^endpoint: /],
    ['usage and classes', { provider: 'openai', usage: {}, classes: {} }, 'invalid_request', /^classes: /],
    [
      'terms beside a native usage',
      { provider: 'openai', endpoint: 'POST /v1/responses', usage: {}, service_tier: 'flex' },
      'invalid_request',
      /^service_tier/,
    ],
    [
      'an endpoint that is none',
      { provider: 'openai', endpoint: 'POST /v1/answers', usage: {} },
      'endpoint_unknown',
      /openai has no POST \/v1\/answers/,
    ],
  ])('refuses %s', async (_what, question, code, message) => {
    expect(await ask(question)).toEqual({
      status: 400,
      body: { error: { code, message: expect.stringMatching(message), request_id: expect.any(String) } },
    });
  });
});
