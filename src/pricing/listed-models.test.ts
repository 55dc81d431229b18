/** Models that the catalog lacks or has wrong, at the prices of their providers' lists. Computed by hand. */
import { describe, expect, it, test } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { ClassQuantities } from '../vocabulary/token-usage.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import { createCatalog } from './catalog.ts';
import { findNotedModel } from './noted-models.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();
const NOON = '2026-11-28T12:00:00Z';

function price(provider: ProviderName, model: string, classes: ClassQuantities, at = NOON, more = {}, by = book) {
  const call = billableCall({
    provider,
    requestedAtMs: Date.parse(at),
    model,
    modelRequested: model,
    usage: usageOf(classes),
    ...more,
  });
  const { costStatus, totalCost } = by.priceCall(call);
  return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
}

const THOUSANDS = { input: 1_000, output: 1_000 };

it('Gemini 3 Pro costs more above 200,000 tokens under each of its names', () => {
  for (const model of ['gemini-3-pro', 'gemini-3-pro-preview']) {
    // 2, 0.2 and 12 a million, and above 4, 0.4 and 18.
    const of = (input: number, more = {}) =>
      price('gemini', model, { input, cache_read: 100_000, output: 1_000 }, NOON, more);
    expect([model, of(100_000)]).toEqual([model, ['exact', '0.232']]);
    expect([model, of(200_000)]).toEqual([model, ['exact', '0.858']]);
    expect([model, price('gemini', model, { input: 300_000, output: 1_000 }, NOON, { isBatch: true })]).toEqual([
      model,
      ['exact', '0.609'],
    ]);
  }
});

describe('models of the price lists of November 2026', () => {
  it.each([
    ['together', 'moonshotai/Kimi-K3', '0.018'],
    ['together', 'moonshotai/Kimi-K2.7-Code', '0.00495'],
    ['together', 'zai-org/GLM-5.3', '0.0058'],
    ['together', 'thinkingmachines/Inkling', '0.00505'],
    ['together', 'deepseek-ai/DeepSeek-V4-Pro-0813', '0.00528'],
    ['together', 'MiniMaxAI/MiniMax-M3', '0.0015'],
    ['together', 'mistralai/Mixtral-8x7B-Instruct-v0.1', '0.0012'],
    ['fireworks', 'accounts/fireworks/models/qwen3p8-max', '0.008'],
    ['fireworks', 'accounts/fireworks/models/llama-v2-7b', '0.0004'],
    ['fireworks', 'accounts/fireworks/routers/glm-5p3-us', '0.0087'],
    ['fireworks', 'accounts/fireworks/routers/kimi-latest', '0.012'],
    ['gemini', 'gemini-3.8-flash', '0.0045'],
    ['gemini', 'gemini-robotics-er-2-preview', '0.006'],
    ['gemini', 'gemini-2.5-computer-use-preview-10-2025', '0.01125'],
    ['gemini', 'deep-research-pro-preview-12-2025', '0.014'],
    ['gemini', 'gemini-1.5-flash-8b-001', '0.0001875'],
    ['gemini', 'gemini-4-carbon', '0.012'],
    ['gemini', 'gemini-4-neon', '0.018'],
    ['openai', 'gpt-6.2-astra', '0.048'],
    ['bedrock', 'openai.gpt-6.2-astra', '0.0528'],
    ['bedrock', 'us.openai.gpt-6.2-sol', '0.0132'],
    ['bedrock', 'global.openai.gpt-6.2-sol', '0.012'],
    ['bedrock', 'ca.amazon.nova-lite-v1:0', '0.00032'],
    ['bedrock', 'amazon.nova-2-lite-v1:0', '0.00308'],
    ['bedrock', 'global.amazon.nova-2-lite-v1:0', '0.0028'],
    ['bedrock', 'us.amazon.nova-2-lite-v1:0', '0.00308'],
    ['bedrock', 'us.anthropic.claude-fable-5', '0.066'],
    ['bedrock', 'deepseek.v3.2', '0.00247'],
    ['bedrock', 'zai.glm-5', '0.0042'],
    ['bedrock', 'openai.gpt-oss-120b', '0.00075'],
    ['bedrock', 'cohere.command-r-plus-v1:0', '0.018'],
    ['openai', 'gpt-6.1-sol', '0.012'],
    ['openai', 'gpt-6.1-sol-2026-10-01', '0.012'],
    ['openai', 'chat-latest', '0.035'],
    ['openai', 'ft:gpt-4.1-mini-2025-04-14:acme::a1', '0.004'],
    ['openai', 'ft:o4-mini-2025-04-16:acme:birds:b2', '0.02'],
    ['openai', 'davinci-002', '0.004'],
    ['anthropic', 'claude-mythos-5', '0.06'],
  ] as const)('have a price: %s %s', (provider, model, total) => {
    expect(price(provider, model, THOUSANDS)).toEqual(['exact', total]);
  });

  it.each([
    ['fireworks', 'nomic-ai/nomic-embed-text-v1.5', '0.000008'],
    ['bedrock', 'cohere.embed-english-v3', '0.0001'],
    ['bedrock', 'amazon.titan-embed-image-v1', '0.0008'],
    ['gemini', 'gemini-embedding-2-preview', '0.0002'],
  ] as const)('have the price of an embedding: %s %s', (provider, model, total) => {
    expect(price(provider, model, { input: 1_000 })).toEqual(['exact', total]);
  });

  it('bill sound by tokens, by the minute and by what is spoken', () => {
    expect(price('openai', 'gpt-4o-transcribe', { input_audio: 66, output: 22 })).toEqual(['exact', '0.000385']);
    expect(price('openai', 'gpt-4o-mini-transcribe', { input_audio: 66, output: 22 })).toEqual(['exact', '0.0001925']);
    expect(price('openai', 'gpt-realtime-whisper', { input_audio_ms: 6_000 })).toEqual(['exact', '0.0017']);
    expect(price('openai', 'gpt-live-transcribe', { input_audio_ms: 60_000 })).toEqual(['exact', '0.017']);
    expect(price('gemini', 'gemini-3.1-flash-tts-preview', { input: 1_000, output_audio: 1_000 })).toEqual([
      'exact',
      '0.021',
    ]);
    const live = { input: 1_000, input_audio: 1_000, output: 1_000, output_audio: 1_000 };
    expect(price('gemini', 'gemini-3.8-live', live)).toEqual(['exact', '0.02025']);
  });

  it('bill a search beside the tokens, and pictures of Stability by the picture', () => {
    expect(price('openai', 'gpt-5-search-api', { ...THOUSANDS, web_search_requests: 1 })).toEqual(['exact', '0.02125']);
    expect(price('bedrock', 'stability.sd3-5-large-v1:0', { output_images: 2 })).toEqual(['exact', '0.16']);
  });

  it('are free where the provider says so', () => {
    expect(price('openai', 'omni-moderation-latest', { input: 500 })).toEqual(['exact', '0']);
    expect(price('gemini', 'gemma-4-31b-it', THOUSANDS)).toEqual(['exact', '0']);
  });

  it('have no price for a class that no list gives: a cached token there is not known', () => {
    expect(price('together', 'Qwen/Qwen3.6-Plus', { cache_read: 1_000 })).toEqual(['unpriced', null]);
    expect(price('together', 'Qwen/Qwen3.6-Plus', { ...THOUSANDS, cache_read: 1_000 })).toEqual(['partial', null]);
  });
});

describe('a name that is not in a list', () => {
  it.each([
    ['gemini', 'gemma-5-9b-it'],
    ['gemini', 'gemma-4-31b-vision'],
    ['gemini', 'gemini-1.5-flash-8b-pro'],
    ['openai', 'ft:gpt-4.1-mega:acme::a1'],
    ['openai', 'omni-moderation-2'],
    ['together', 'moonshotai/Kimi-K3-Turbo'],
    ['fireworks', 'accounts/fireworks/models/kimi-k3-mini'],
    ['bedrock', 'deepseek.v3.2-lite'],
    ['anthropic', 'claude-1.9'],
  ] as const)('has no price of another: %s %s', (provider, model) => {
    expect(price(provider, model, THOUSANDS)).toEqual(['unpriced', null]);
  });
});

describe('a price that changed', () => {
  it('of Fireworks is that of the day', () => {
    const cached = { ...THOUSANDS, cache_read: 1_000 };
    const at = (model: string, day: string) => price('fireworks', `accounts/fireworks/models/${model}`, cached, day)[1];
    expect(at('deepseek-v4-flash-0731', '2026-08-21T23:59:59Z')).toBe('0.000448');
    expect(at('deepseek-v4-flash-0731', '2026-08-22T00:00:00Z')).toBe('0.000887');
    expect(at('deepseek-v4p1-flash', '2026-10-16T23:59:59Z')).toBe('0.000887');
    expect(at('deepseek-v4p1-flash', '2026-10-17T00:00:00Z')).toBe('0.001506');
    // 0.15, 0.014 and 0.60 a million, and 0.015 since.
    expect(at('gpt-oss-120b', '2026-10-18T23:59:59Z')).toBe('0.000764');
    expect(at('gpt-oss-120b', '2026-10-19T00:00:00Z')).toBe('0.000765');
  });

  it('of Gemini ends with the introduction', () => {
    const at = (model: string, day: string) => price('gemini', model, THOUSANDS, day)[1];
    expect(at('gemini-4-argon', '2026-11-30T23:59:59Z')).toBe('0.012');
    expect(at('gemini-4-argon', '2026-12-01T00:00:00Z')).toBe('0.024');
    expect(at('gemini-3.8-flash', '2026-12-31T23:59:59Z')).toBe('0.0045');
    expect(at('gemini-3.8-flash', '2027-01-01T00:00:00Z')).toBe('0.009');
  });

  it('comes with a name that moves, and before that is known it has none', () => {
    const at = (day: string) => price('gemini', 'gemini-flash-latest', THOUSANDS, day);
    expect(at('2026-10-13T23:59:59Z')).toEqual(['unpriced', null]);
    expect(at('2026-10-14T00:00:00Z')).toEqual(['exact', '0.0045']);
    expect(at('2027-01-01T00:00:00Z')).toEqual(['exact', '0.009']);
  });
});

describe('a catalog of a later day', () => {
  const models = [
    { id: 'Kimi-K3', match: { equals: 'moonshotai/Kimi-K3' }, prices: { input_mtok: 2, output_mtok: 10 } },
    { id: 'Mixtral', match: { equals: 'mistralai/Mixtral-8x7B-Instruct-v0.1' }, prices: { input_mtok: 0.9 } },
  ];
  const at = (checkedOn: string, model: string) => {
    const catalog = createCatalog({ name: 'later', checkedOn, findProvider: () => ({ models }) });
    return price('together', model, { input: 1_000_000 }, NOON, {}, createPriceBook({ catalog }))[1];
  };

  it('outranks a figure that filled a hole, and one of an earlier day does not', () => {
    expect(at('2026-12-15', 'moonshotai/Kimi-K3')).toBe('2');
    expect(at('2026-11-01', 'moonshotai/Kimi-K3')).toBe('3');
  });

  it('does not outrank what corrects it', () => {
    expect(at('2026-12-15', 'mistralai/Mixtral-8x7B-Instruct-v0.1')).toBe('0.6');
  });
});

test('a film has a rate of its own among what a model writes', () => {
  const film = { input: 1_000, output_video: 1_000 };
  expect(price('gemini', 'gemini-omni-1.1-flash', film)).toEqual(['exact', '0.019']);
  expect(price('gemini', 'gemini-omni-1.2-flash', film)).toEqual(['exact', '0.0135']);
});

describe('a prompt of more than 200,000 tokens on Bedrock', () => {
  it('has the price of long prompts of Sonnet 4.5', () => {
    const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
    expect(price('bedrock', model, { input: 200_000 })).toEqual(['exact', '0.66']);
    expect(price('bedrock', model, { input: 200_001 })[1]).toBe('1.3200066');
    const inSydney = price('bedrock', model.slice(3), { input: 200_001 }, NOON, { region: 'ap-southeast-2' });
    expect(inSydney).toEqual(['exact', '1.3200066']);
  });
});

describe('a model without a price', () => {
  it.each([
    ['gemini', 'veo-3.1-generate-preview', /second of video/],
    ['openai', 'sora-2', /second of video/],
    ['bedrock', 'amazon.titan-image-generator-v1', /size and quality/],
    ['together', 'black-forest-labs/FLUX.1-schnell', /megapixel/],
    ['deepseek', 'deepseek-v3', /no id of the API/],
  ] as const)('has the reason stated: %s %s', (provider, model, reason) => {
    expect(price(provider, model, THOUSANDS)).toEqual(['unpriced', null]);
    expect(findNotedModel(provider, model)?.withoutPrice).toMatch(reason);
  });

  it('is not taken for a maker of films by letters in the middle of its name', () => {
    expect(findNotedModel('together', 'acme/Duckling-7B')?.withoutPrice ?? null).toBeNull();
    expect(findNotedModel('together', 'kwaivgI/kling-2.1-pro')?.withoutPrice).toMatch(/second of video/);
  });
});
