import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { findProvider, type MatchLogic } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { CATALOG_RELEASE, createCatalog, NOT_THE_PROVIDERS } from './catalog.ts';
import { formatDecimal } from './decimal.ts';

const catalog = createCatalog();

function listNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listNames);
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match) return [match.starts_with];
  if ('contains' in match) return [match.contains];
  return [];
}

describe('the compiled catalog', () => {
  it('names the release that is installed', () => {
    const main = createRequire(import.meta.url).resolve('@pydantic/genai-prices');
    const manifest = readFileSync(new URL('../package.json', `file://${main}`), 'utf8');
    expect(z.object({ version: z.string() }).parse(JSON.parse(manifest)).version).toBe(CATALOG_RELEASE);
  });

  it('knows models of these providers', () => {
    const counts = PROVIDER_NAMES.map((provider) => [provider, catalog.listModels(provider).length]);
    expect(Object.fromEntries(counts)).toMatchObject({
      openai: 93,
      anthropic: 23,
      gemini: 56,
      bedrock: 93,
      fireworks: 32,
      together: 72,
      deepseek: 7,
    });
  });

  it('finds every model under the names that its own rule spells out', () => {
    const ids = {
      openai: 'openai',
      anthropic: 'anthropic',
      bedrock: 'aws',
      fireworks: 'fireworks',
      together: 'together',
    };
    // Whatever has "moderation" in its name: the rule that is corrected.
    for (const provider of ['openai', 'anthropic', 'bedrock', 'fireworks', 'together'] as const)
      for (const model of findProvider({ providerId: ids[provider] })?.models.filter(({ id }) => id !== 'moderation') ??
        [])
        for (const name of listNames(model.match).filter((listed) => !NOT_THE_PROVIDERS.includes(listed)))
          expect([name, catalog.findModel(provider, name)?.id]).toEqual([name, model.id]);
  });

  it('gives every row a key of its own and an exact rate', () => {
    for (const provider of PROVIDER_NAMES) {
      const rows = catalog.listModels(provider).flatMap((model) => model.rows());
      const keys = rows.map((row) => row.key);
      expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
      for (const row of rows) expect(row.rate >= 0n).toBe(true);
    }
  });

  it('has a write price for the lifetimes that a provider sells, and no others', () => {
    const writes = (provider: 'openai' | 'anthropic') => [
      ...new Set(
        catalog
          .listModels(provider)
          .flatMap((model) => model.rows())
          .map(({ usageClass }) => usageClass)
          .filter((usageClass) => usageClass.startsWith('cache_creation')),
      ),
    ];
    expect(writes('openai')).toEqual(['cache_creation_30m']);
    expect(writes('anthropic')).toEqual(['cache_creation_5m', 'cache_creation_1h']);
  });

  it('starts the long-context price of OpenAI after 272,000 tokens, and of Anthropic after 200,000', () => {
    const read = (provider: 'openai' | 'anthropic', model: string) =>
      catalog
        .findModel(provider, model)
        ?.rows()
        .filter((row) => row.usageClass === 'input')
        .map((row) => [row.key, formatDecimal(row.rate), row.promptTier]);
    expect(read('openai', 'gpt-5.4')).toEqual([
      ['catalog/openai/gpt-5.4/input', '2.5', { overTokens: -1, upToTokens: 272_000 }],
      ['catalog/openai/gpt-5.4/input>272000', '5', { overTokens: 272_000, upToTokens: Number.MAX_SAFE_INTEGER }],
    ]);
    expect(read('anthropic', 'claude-sonnet-4-5-20250929')?.[1]).toEqual([
      'catalog/anthropic/claude-sonnet-4-5/input>200000',
      '6',
      { overTokens: 200_000, upToTokens: Number.MAX_SAFE_INTEGER },
    ]);
  });

  it('ends a price where the next one starts', () => {
    const dated = catalog
      .findModel('openai', 'o3')
      ?.rows()
      .filter((row) => row.usageClass === 'output')
      .map((row) => [formatDecimal(row.rate), row.validFromMs, row.validToMs]);
    const cut = Date.UTC(2025, 5, 10);
    expect(dated).toEqual([
      ['40', null, cut],
      ['8', cut, null],
    ]);
  });

  it('does not let a prefix reach over a version number', () => {
    expect(catalog.findModel('anthropic', 'claude-sonnet-5')?.id).toBe('claude-sonnet-5');
    expect(catalog.findModel('anthropic', 'claude-sonnet-5-5')).toBeUndefined();
    expect(catalog.findModel('bedrock', 'global.anthropic.claude-sonnet-5-5-v1:0')).toBeUndefined();
    expect(catalog.findModel('anthropic', 'claude-opus-4-1-20250805')?.id).toBe('claude-opus-4-1');
  });

  it('does not let a prefix reach over the word for another model, and does over a date, a preview or a revision', () => {
    const find = (provider: 'anthropic' | 'bedrock' | 'gemini' | 'openai', model: string) =>
      catalog.findModel(provider, model)?.id;
    expect(find('gemini', 'gemini-2.5-pro-ultra')).toBeUndefined();
    // Speech, at more than twice the price of text.
    expect(find('gemini', 'gemini-3.8-flash-tts')).toBeUndefined();
    expect(find('anthropic', 'claude-sonnet-5-mini')).toBeUndefined();
    expect(find('openai', 'gpt-5-nano-turbo-2026-12-01')).toBeUndefined();
    expect(find('bedrock', 'us.anthropic.claude-opus-5-fast-v1:0')).toBeUndefined();
    expect(find('openai', 'ft:gpt-4o-2024-08-06:acme::a1')).toBe('ft:gpt-4o');
    expect(find('gemini', 'gemini-2.5-pro-preview-06-05')).toBe('gemini-2.5-pro');
    expect(find('openai', 'gpt-4o-audio-preview-2025-06-03')).toBe('gpt-4o-audio-preview');
    // Models of these words have prices of their own.
    expect(find('gemini', 'gemini-2.5-flash-lite')).toBe('gemini-2.5-flash-lite');
    expect(find('openai', 'o3-pro-2025-06-10')).toBe('o3-pro');
  });

  it('has no model for an unknown id, however alike', () => {
    expect(catalog.findModel('openai', 'gpt-99-mystery')).toBeUndefined();
    expect(catalog.findModel('openai', 'gpt-4o-minii')).toBeUndefined();
    expect(catalog.findModel('gemini', 'gemini-2.5-flash-001-unknown-tuned')).toBeUndefined();
  });
});
