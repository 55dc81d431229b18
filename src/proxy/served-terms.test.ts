import { describe, expect, test } from 'vitest';
import { NOTHING_REPORTED } from '../formats/usage/reported-usage.ts';
import type { HeaderTerms } from '../pricing/greatest/greatest-cost.ts';
import { PROVIDERS } from '../providers/registry.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import { readModelOfBody } from './read-requested-model.ts';
import { readServedTerms } from './served-terms.ts';

function termsOf(
  provider: ProviderName,
  request: object,
  reported: object,
  hasUsage = true,
  byHeaders: HeaderTerms | null = null,
) {
  const body = Buffer.from(JSON.stringify({ model: 'm', ...request }));
  const requested = readModelOfBody('application/json', body, body.length);
  return readServedTerms(PROVIDERS[provider], requested, byHeaders, { ...NOTHING_REPORTED, ...reported }, hasUsage);
}

const NO_TERMS = { serviceTier: null, speed: null, inferenceGeo: null };

describe('a term that was asked for and is not reported is not known', () => {
  test.each<[ProviderName, object, object]>([
    ['openai', { service_tier: 'priority' }, { serviceTier: 'unreported' }],
    ['openai', { service_tier: 'flex' }, { serviceTier: 'unreported' }],
    ['gemini', { serviceTier: 'priority' }, { serviceTier: 'unreported' }],
    ['bedrock', { serviceTier: { type: 'flex' } }, { serviceTier: 'unreported' }],
    ['bedrock', { performanceConfig: { latency: 'optimized' } }, { speed: 'unreported' }],
    ['anthropic', { speed: 'fast' }, { speed: 'unreported' }],
    ['anthropic', { inference_geo: 'us' }, { inferenceGeo: 'unreported' }],
  ])('%s, %j', (provider, request, marked) => {
    expect(termsOf(provider, request, {})).toEqual({ ...NO_TERMS, ...marked });
  });
});

describe('a term is what the answer says, whatever was asked for', () => {
  test.each<[ProviderName, object, object]>([
    ['openai', { service_tier: 'flex' }, { serviceTier: 'default' }],
    ['anthropic', { speed: 'fast' }, { speed: 'standard' }],
    ['anthropic', { inference_geo: 'us' }, { inferenceGeo: 'global' }],
    ['fireworks', { service_tier: 'priority' }, { serviceTier: 'default' }],
  ])('%s, %j', (provider, request, reported) => {
    expect(termsOf(provider, request, reported)).toEqual({ ...NO_TERMS, ...reported });
  });
});

test('what headers ask for is marked as what the body asks for', () => {
  const asked = { serviceTier: 'flex', speed: 'optimized' };
  expect(termsOf('bedrock', {}, {}, true, asked)).toEqual({
    ...NO_TERMS,
    serviceTier: 'unreported',
    speed: 'unreported',
  });
  const standard = { serviceTier: 'default', speed: 'standard' };
  expect(termsOf('bedrock', {}, {}, true, standard)).toEqual(NO_TERMS);
  // Which of the two the provider heeds is not known.
  expect(termsOf('bedrock', { serviceTier: { type: 'flex' } }, {}, true, standard).serviceTier).toBe('unreported');
  expect(termsOf('bedrock', {}, standard, true, asked)).toEqual({ ...NO_TERMS, ...standard });
  expect(termsOf('bedrock', {}, {}, false, asked)).toEqual(NO_TERMS);
});

describe('nothing is marked', () => {
  test.each<[ProviderName, object]>([
    ['openai', { service_tier: 'auto' }],
    ['openai', { service_tier: null }],
    ['openai', { speed: 1.25 }],
    ['bedrock', { performanceConfig: { latency: 'standard' } }],
    ['bedrock', { performanceConfig: 'optimized' }],
    ['anthropic', { service_tier: 'standard_only' }],
    ['together', { service_tier: 'flex' }],
  ])('%s, %j', (provider, request) => {
    expect(termsOf(provider, request, {})).toEqual(NO_TERMS);
  });

  test('where the call has no usage to price', () => {
    expect(termsOf('openai', { service_tier: 'flex' }, {}, false)).toEqual(NO_TERMS);
  });
});

test('at Fireworks, whose answers never say it, the tier is the one asked for', () => {
  expect(termsOf('fireworks', { service_tier: 'priority' }, {})).toEqual({ ...NO_TERMS, serviceTier: 'priority' });
});
