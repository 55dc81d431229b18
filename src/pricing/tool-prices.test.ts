/** What looking things up costs beside the tokens: grounding, web tools, pictures; and DeepSeek's hours. */
import { describe, expect, it } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { TokenUsage } from '../vocabulary/token-usage.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();

interface Priced {
  readonly provider: ProviderName;
  readonly model: string;
  readonly classes: TokenUsage['classes'];
  readonly at?: string;
  readonly serviceTier?: string;
}

function cost({ provider, model, classes, at = '2026-11-28T12:00:00Z', serviceTier }: Priced) {
  const { costStatus, totalCost } = book.priceCall(
    billableCall({
      provider,
      requestedAtMs: Date.parse(at),
      model,
      modelRequested: model,
      serviceTier: serviceTier ?? null,
      usage: usageOf(classes),
    }),
  );
  return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
}

describe('grounding', () => {
  const grounded = { web_search_requests: 3, grounded_prompts: 1 };

  it.each([
    ['gemini-2.5-flash', grounded, '0.035'],
    ['gemini-2.0-flash', grounded, '0.035'],
    ['gemini-3-flash-preview', grounded, '0.042'],
    ['gemini-3.8-flash', grounded, '0.042'],
    ['gemini-2.5-pro', { maps_requests: 1 }, '0.025'],
    ['gemini-3.5-flash', { maps_requests: 2 }, '0.028'],
  ])('of %s, %o', (model, classes, expected) => {
    expect(cost({ provider: 'gemini', model, classes })).toEqual(['exact', expected]);
  });

  it('costs the same on every tier, and the tokens do not', () => {
    const classes = { input: 1_000_000, ...grounded };
    const call = { provider: 'gemini', model: 'gemini-2.5-flash', classes } as const;
    expect(cost(call)).toEqual(['exact', '0.335']);
    expect(cost({ ...call, serviceTier: 'ON_DEMAND_FLEX' })).toEqual(['exact', '0.185']);
    expect(cost({ ...call, serviceTier: 'ON_DEMAND_PRIORITY' })).toEqual(['exact', '0.575']);
  });
});

it('pictures cost by the piece', () => {
  const classes = { output_images: 3 };
  expect(cost({ provider: 'gemini', model: 'imagen-4.0-generate-001', classes })).toEqual(['exact', '0.12']);
  expect(cost({ provider: 'gemini', model: 'imagen-9', classes })).toEqual(['unpriced', null]);
});

it('a deployment of a model is billed by the hour and has no price by the token', () => {
  const [model, classes] = ['accounts/fireworks/models/gpt-oss-120b', { input: 1_000_000 }];
  expect(cost({ provider: 'fireworks', model, classes })[0]).toBe('exact');
  const deployed = `${model}#accounts/acme/deployments/gate`;
  expect(cost({ provider: 'fireworks', model: deployed, classes })).toEqual(['unpriced', null]);
});

it('a search with the older tool of OpenAI costs more where the model does not reason', () => {
  const classes = { web_search_requests: 1 };
  expect(cost({ provider: 'openai', model: 'web_search_preview', classes })).toEqual(['exact', '0.025']);
  expect(cost({ provider: 'openai', model: 'gpt-4o', classes })).toEqual(['exact', '0.01']);
});

it.each([
  ['openai', 'gpt-6.2-astra'],
  ['openai', 'gpt-5.5-cyber'],
  ['openai', 'gpt-rosalind-research'],
  ['anthropic', 'claude-fable-5-2'],
  ['anthropic', 'claude-mythos-5'],
  ['anthropic', 'claude-mythos-5-2'],
  ['anthropic', 'claude-opus-5-latest'],
] as const)('a search costs the same on the newest models: %s %s', (provider, model) => {
  expect(cost({ provider, model, classes: { web_search_requests: 3 } })).toEqual(['exact', '0.03']);
});

it('a flex call halves the tokens of its own model only: nothing says what the image tool costs in it', () => {
  const flex = { provider: 'openai', serviceTier: 'flex' } as const;
  expect(cost({ ...flex, model: 'gpt-5', classes: { input: 1_000_000 } })).toEqual(['exact', '0.625']);
  expect(cost({ ...flex, model: 'gpt-image-1', classes: { output_image: 1_000_000 } })).toEqual(['unpriced', null]);
});

describe('DeepSeek', () => {
  it('bills a search and a fetch by the request, those of a model since 1 November in Beijing', () => {
    const classes = { web_search_requests: 2 };
    expect(cost({ provider: 'deepseek', model: 'tools/search', classes })).toEqual(['exact', '0.0015']);
    expect(cost({ provider: 'deepseek', model: 'tools/fetch', classes: { web_fetch_requests: 1 } })).toEqual([
      'exact',
      '0.00075',
    ]);
    expect(cost({ provider: 'deepseek', model: 'deepseek-flash', classes })).toEqual(['exact', '0.0015']);
    const before = { provider: 'deepseek', model: 'deepseek-flash', classes, at: '2026-10-31T15:59:59.999Z' } as const;
    expect(cost(before)).toEqual(['unpriced', null]);
  });

  it.each([
    ['a Monday morning in Beijing', '2026-11-23T02:00:00Z', '0.3'],
    ['its noon', '2026-11-23T05:00:00Z', '0.15'],
    ['its afternoon, to the last millisecond', '2026-11-23T09:59:59.999Z', '0.3'],
    ['its evening', '2026-11-23T10:00:00Z', '0.15'],
    ['a Saturday', '2026-11-28T02:00:00Z', '0.15'],
    ['a Saturday that is worked in exchange for a holiday', '2026-10-10T02:00:00Z', '0.15'],
    ['the last hours before a holiday', '2026-09-30T09:59:59.999Z', '0.3'],
    ['a holiday', '2026-10-01T02:00:00Z', '0.15'],
    ['the last hours of the holidays', '2026-10-07T09:00:00Z', '0.15'],
    ['the day after', '2026-10-08T02:00:00Z', '0.3'],
  ])('costs what it costs on %s', (_, at, expected) => {
    const classes = { input: 1_000_000 };
    expect(cost({ provider: 'deepseek', model: 'deepseek-flash', classes, at })).toEqual(['exact', expected]);
    // The old names are served by the same model, at its price.
    expect(cost({ provider: 'deepseek', model: 'deepseek-v4-flash', classes, at })).toEqual(['exact', expected]);
  });

  it('changed the price of Flash on 10 September', () => {
    const call = { provider: 'deepseek', model: 'deepseek-v4-flash', classes: { output: 1_000_000 } } as const;
    expect(cost({ ...call, at: '2026-09-10T03:59:59.999Z' })).toEqual(['exact', '1.32']);
    expect(cost({ ...call, at: '2026-09-10T04:00:00Z' })).toEqual(['exact', '0.6']);
  });
});
