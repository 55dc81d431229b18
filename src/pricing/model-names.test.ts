/** A name reaches the price of another model over dates and over the forms that the provider documents, and no further. */
import { findProvider, type MatchLogic } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../providers/registry.ts';
import type { ClassQuantities } from '../vocabulary/token-usage.ts';
import type { BillableCall } from './billable-call.ts';
import { createCatalog } from './catalog.ts';
import inventedIds from './invented-ids.json' with { type: 'json' };
import { OVERLAY_DATA } from './overlay-data.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();
const catalog = createCatalog();

function priceModel(
  provider: ProviderName,
  model: string,
  classes: ClassQuantities = { input: 1000, output: 1000 },
  changes: Partial<BillableCall> = {},
) {
  const call = billableCall({
    provider,
    model,
    modelRequested: model,
    usage: usageOf(classes),
    ...changes,
  });
  return book.priceCall(call);
}

function priceStatus(provider: ProviderName, model: string): string {
  return priceModel(provider, model).costStatus;
}

/** The names that the rules of the catalog spell out, as far as they are whole names. */
function listNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listNames);
  if ('and' in match) return match.and.flatMap(listNames);
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match) return [match.starts_with];
  if ('contains' in match) return [match.contains];
  return 'ends_with' in match ? [match.ends_with] : [];
}

const KNOWN = PROVIDER_NAMES.flatMap((provider) =>
  (findProvider({ providerId: PROVIDERS[provider].catalogId })?.models ?? [])
    .flatMap((model) => listNames(model.match))
    .filter((name) => catalog.findModel(provider, name) !== undefined)
    .map((name) => [provider, name] as const),
);
/** Known to the price book in other ways. */
const REAL = [
  'anthropic/claude-2.0',
  'anthropic/claude-2.1',
  'bedrock/amazon.titan-embed-text-v2',
  'bedrock/amazon.titan-embed-text-v2:0',
];
const IDS = new Set([...REAL, ...KNOWN.map(([provider, name]) => `${provider}/${name.toLowerCase()}`)]);

describe('the name of a model', () => {
  it.each(inventedIds)('$provider $id is $verdict', ({ provider, id, verdict }) => {
    const name = PROVIDER_NAMES.find((known) => known === provider) ?? 'openai';
    expect(priceStatus(name, id)).toBe(verdict);
  });

  /** Letters that no real id has behind a hyphen in this order: a word that nobody has used. */
  const words = fc.stringMatching(/^[a-z]{1,3}q[jxz][a-z]{0,4}$/);
  const changes = fc.oneof(
    words.map((word) => (id: string) => `${id}-${word}`),
    words.map((word) => (id: string) => `${id}${word}`),
    words.map((word) => (id: string) => `${id}:${word}`),
    words.map((word) => (id: string) => `${id}/${word}`),
    words.map((word) => (id: string) => `${word}-${id}`),
    words.map((word) => (id: string) => `${word}.${id}`),
    words.map((word) => (id: string) => `${word}/${id}`),
    words.map((word) => (id: string) => `${id}-latest-${word}`),
    words.map((word) => (id: string) => `${id}-20260101-${word}`),
    fc.integer({ min: 2, max: 19 }).map((number) => (id: string) => `${id}-v${number}:0`),
    fc.integer({ min: 2, max: 19 }).map((number) => (id: string) => `${id}-v${number}`),
    fc.integer({ min: 1, max: 99 }).map((number) => (id: string) => `${id}-${number}`),
    fc.integer({ min: 1, max: 99 }).map((number) => (id: string) => `${id}.${number}`),
    fc.integer({ min: 1, max: 99 }).map((number) => (id: string) => `${id}-${number}b`),
    fc
      .constantFrom('vision', 'high', 'fast', 'lite', 'turbo', 'thinking', 'instruct', 'it', 'tuned')
      .map((word) => (id: string) => `${id}-${word}`),
  );

  it('never has the price of the model that it only begins or ends with', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), changes, ([provider, known], change) => {
        const id = change(known);
        // Fine-tunes have names of their maker's behind the colon; one size of an open model costs what another does.
        fc.pre(!known.startsWith('ft:') && !known.startsWith('gemma-'));
        fc.pre(!id.includes('claude-3-5-sonnet-20241022-v2'));
        fc.pre(!IDS.has(`${provider}/${id.toLowerCase()}`));
        // What the overlay has a row for has been told to be a model by somebody.
        const { lines } = priceModel(provider, id);
        expect(lines.filter(({ layer }) => layer === 'catalog').map(({ row }) => `${id}: ${row}`)).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });

  const declared = OVERLAY_DATA.flatMap(({ provider, prices }) =>
    prices.flatMap(({ models = [] }) => models.map((name) => [provider, name] as const)),
  );

  it('never has the price of a model in the overlay that a word nobody has used makes another one of', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...declared),
        words,
        fc.constantFrom('-', '', '.', ':'),
        ([provider, known], word, joint) => {
          expect(priceModel(provider, `${known}${joint}${word}`).lines).toEqual([]);
          expect(priceModel(provider, `${word}${joint}${known}`).lines).toEqual([]);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it.each<readonly [ProviderName, string]>([
    ['anthropic', 'claude-sonnet-4-5-20250929'],
    ['anthropic', 'claude-sonnet-4-20250514'],
    ['anthropic', 'claude-3-5-haiku-latest'],
    ['anthropic', 'claude-opus-4-8@20260601'],
    ['openai', 'gpt-5-nano-2025-08-07'],
    ['openai', 'gpt-4o-realtime-preview-2025-06-03'],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::a1'],
    ['openai', 'ft:gpt-4o-mini-2024-07-18:acme:support:a1:ckpt-step-10'],
    ['gemini', 'gemini-2.5-pro-preview-06-05'],
    ['gemini', 'gemini-2.5-flash-lite-preview-09-2025'],
    ['gemini', 'gemini-2.0-flash-001'],
    ['gemini', 'gemini-1.5-flash-002'],
    ['gemini', 'gemini-3.5-flash-001'],
    ['bedrock', 'amazon.nova-pro-v1:0'],
    ['bedrock', 'us.amazon.nova-pro-v1:0'],
    ['bedrock', 'mistral.mistral-7b-instruct-v0:2'],
    ['bedrock', 'anthropic.claude-3-5-sonnet-20241022-v2:0'],
    ['bedrock', 'us.anthropic.claude-opus-4-5-20251101-v1:0'],
    ['bedrock', 'global.anthropic.claude-opus-4-6-v1'],
    ['bedrock', 'openai.gpt-oss-120b'],
    ['bedrock', 'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0'],
  ])('%s %s has the price of its model', (provider, id) => {
    expect(priceStatus(provider, id)).toBe('exact');
  });

  it.each([
    // Long prompts of Claude, the price of a geography, and of a region, stand under the whole id.
    ['anthropic.claude-sonnet-4-20250514-v1:0', 'anthropic.claude-sonnet-4-20250514'],
    ['anthropic.claude-sonnet-4-20250514-v1:0', 'anthropic.claude-sonnet-4-20250514-v1'],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'eu.anthropic.claude-sonnet-4-5-20250929'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'global.anthropic.claude-sonnet-4-5-20250929-v1'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929-v1:0'],
    ['eu.amazon.nova-2-lite-v1:0', 'eu.amazon.nova-2-lite'],
    ['jp.amazon.nova-2-lite-v1:0', 'jp.amazon.nova-2-lite-v1'],
    ['amazon.nova-pro-v1:0', 'amazon.nova-pro'],
  ])('of Bedrock, %s, costs the same as %s, whatever is asked of it', (whole, short) => {
    const terms: readonly (readonly [ClassQuantities, Partial<BillableCall>])[] = [
      [{ input: 1000, output: 1000 }, {}],
      [{ input: 300_000, output: 1000 }, {}],
      [{ cache_read: 1000, cache_creation_1h: 1000 }, {}],
      [{ input: 1000, output: 1000 }, { isBatch: true }],
      [{ input: 1000, output: 1000 }, { serviceTier: 'priority' }],
      [{ input: 1000, output: 1000 }, { region: 'us-gov-west-1' }],
      [{ input: 1000, output: 1000 }, { region: 'ap-south-1' }],
    ];
    for (const [classes, changes] of terms) {
      const [one, other] = [whole, short].map((id) => priceModel('bedrock', id, classes, changes));
      expect([other?.costStatus, other?.knownCost]).toEqual([one?.costStatus, one?.knownCost]);
    }
  });

  it('of a fine-tune has one date', () => {
    expect(priceStatus('openai', 'ft:gpt-4o-mini-2024-07-18-2026-03-05')).toBe('unpriced');
    expect(priceStatus('openai', 'ft:gpt-4o-mini-2024-07-18-001:acme::a1')).toBe('unpriced');
  });

  it('is that of the same model in capitals, at its cached rate in a batch too', () => {
    const usage = { cache_read: 1000, output: 1000 };
    expect(priceModel('openai', 'GPT-5', usage, { isBatch: true }).totalCost).toBe(
      priceModel('openai', 'gpt-5', usage, { isBatch: true }).totalCost,
    );
  });
});
