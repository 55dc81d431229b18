/** A file of Portkey-AI/models, `pricing/PROVIDER.json`: models by id, US cents for one token. Its name says whose. */
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';
import { type CatalogEntry, type CatalogRate, UnreadableCatalog } from './catalog.ts';
import { isRecord, type JsonRecord, readNumber, readRecord } from './price-object.ts';

const PROVIDERS: Readonly<Record<string, ProviderName>> = {
  openai: 'openai',
  'open-ai': 'openai',
  anthropic: 'anthropic',
  google: 'gemini',
  bedrock: 'bedrock',
  'bedrock-mantle': 'bedrock',
  'fireworks-ai': 'fireworks',
  fireworks: 'fireworks',
  'together-ai': 'together',
  deepseek: 'deepseek',
};
const FIELDS: readonly (readonly [field: string, usageClass: UsageClass])[] = [
  ['request_token', 'input'],
  ['response_token', 'output'],
  ['cache_read_input_token', 'cache_read'],
  ['cache_write_input_token', 'cache_creation_5m'],
  ['request_audio_token', 'input_audio'],
  ['response_audio_token', 'output_audio'],
];
const CENTS_TO_MILLION = 10_000;

function payAsYouGo(entry: unknown): unknown {
  return readRecord(readRecord(entry)['pricing_config'])['pay_as_you_go'];
}

export function isPortkey(file: unknown): file is JsonRecord {
  return isRecord(file) && Object.values(file).some((entry) => isRecord(payAsYouGo(entry)));
}

export function readPortkey(file: JsonRecord, name: string): readonly CatalogEntry[] {
  const provider = PROVIDERS[name.replace(/^.*[/\\]/, '').replace(/\.json$/, '')];
  if (provider === undefined)
    throw new UnreadableCatalog(
      `${name}: prices in Portkey's form, whose file name says the provider: name it one of ${Object.keys(PROVIDERS).join(', ')} (.json)`,
    );
  return Object.entries(file).flatMap(([model, entry]): CatalogEntry[] => {
    if (model === 'default') return [];
    const prices = readRecord(payAsYouGo(entry));
    const rates = FIELDS.flatMap(([field, usageClass]): CatalogRate[] => {
      const cents = readNumber(readRecord(prices[field])['price']);
      // A class that has none is written as 0 there.
      return cents === undefined || cents === 0 ? [] : [{ usageClass, usd: cents * CENTS_TO_MILLION }];
    });
    return [{ provider, model, rates }];
  });
}
