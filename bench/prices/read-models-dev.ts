/** The answer of models.dev's API: providers by id, their models by id, USD for a million tokens. */
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';
import type { CatalogEntry, CatalogRate } from './catalog.ts';
import { isRecord, type JsonRecord, readNumber, readRecord } from './price-object.ts';

const PROVIDERS: Readonly<Record<string, ProviderName>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'gemini',
  'amazon-bedrock': 'bedrock',
  'fireworks-ai': 'fireworks',
  togetherai: 'together',
  deepseek: 'deepseek',
};
const FIELDS: readonly (readonly [field: string, usageClass: UsageClass])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cache_read'],
  ['cache_write', 'cache_creation_5m'],
  ['input_audio', 'input_audio'],
  ['output_audio', 'output_audio'],
];

export function isModelsDev(file: unknown): file is JsonRecord {
  return isRecord(file) && Object.keys(PROVIDERS).some((id) => isRecord(readRecord(file[id])['models']));
}

export function readModelsDev(file: JsonRecord): readonly CatalogEntry[] {
  return Object.entries(PROVIDERS).flatMap(([id, provider]) =>
    Object.entries(readRecord(readRecord(file[id])['models'])).flatMap(([model, value]): CatalogEntry[] => {
      const entry = readRecord(value);
      if (entry['status'] === 'deprecated') return [];
      const cost = readRecord(entry['cost']);
      const rates = FIELDS.flatMap(([field, usageClass]): CatalogRate[] => {
        const usd = readNumber(cost[field]);
        return usd === undefined ? [] : [{ usageClass, usd }];
      });
      return [{ provider, model, rates }];
    }),
  );
}
