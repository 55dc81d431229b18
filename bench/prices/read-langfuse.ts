/** langfuse's `default-model-prices.json`: a list of models of every provider, which only their names tell apart. */
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';
import { type CatalogEntry, type CatalogRate, MILLION } from './catalog.ts';
import { isRecord, readNumber, readRecord, readText } from './price-object.ts';

const NAMES: readonly (readonly [RegExp, ProviderName])[] = [
  [/^(?:(?:us|eu|apac|jp|au|global)\.)?(?:anthropic|amazon|meta|mistral|cohere)\./, 'bedrock'],
  [/^(?:gpt-|chatgpt-|o\d|text-|davinci|babbage|ft:|whisper|tts|dall-e|codex)/, 'openai'],
  [/^claude-(?!.*@)/, 'anthropic'],
  [/^gemini-/, 'gemini'],
  [/^deepseek-/, 'deepseek'],
];
const FIELDS: readonly (readonly [field: string, usageClass: UsageClass])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read_input_tokens', 'cache_read'],
  ['input_cached_tokens', 'cache_read'],
  ['cache_creation_input_tokens', 'cache_creation_5m'],
  ['input_cache_creation_1h', 'cache_creation_1h'],
  ['input_audio_tokens', 'input_audio'],
  ['output_audio_tokens', 'output_audio'],
  // One price for all tokens: embeddings, which have only input.
  ['total', 'input'],
];

export function isLangfuse(file: unknown): file is readonly unknown[] {
  return Array.isArray(file) && file.some((entry) => readText(readRecord(entry)['matchPattern']) !== undefined);
}

function readDefaultPrices(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const tiers = entry['pricingTiers'];
  const tier = Array.isArray(tiers) ? tiers.filter(isRecord).find(({ isDefault }) => isDefault === true) : entry;
  return readRecord(tier?.['prices']);
}

export function readLangfuse(file: readonly unknown[]): readonly CatalogEntry[] {
  return file.filter(isRecord).flatMap((entry): CatalogEntry[] => {
    const model = readText(entry['modelName']) ?? '';
    const provider = NAMES.find(([pattern]) => pattern.test(model))?.[1];
    if (provider === undefined) return [];
    const prices = readDefaultPrices(entry);
    const rates = new Map<UsageClass, CatalogRate>();
    for (const [field, usageClass] of FIELDS) {
      const usd = readNumber(prices[field]);
      if (usd !== undefined && !rates.has(usageClass)) rates.set(usageClass, { usageClass, usd: usd * MILLION });
    }
    return [{ provider, model, rates: [...rates.values()] }];
  });
}
