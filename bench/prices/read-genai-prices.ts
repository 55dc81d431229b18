/** The file that `@pydantic/genai-prices` publishes: providers with models, whose prices may be dated; USD for a million. */

import { PROVIDERS, type ProviderName } from '../../src/providers/registry.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';
import type { CatalogEntry, CatalogRate } from './catalog.ts';
import { isRecord, type JsonRecord, readNumber, readRecord, readText } from './price-object.ts';

const BY_CATALOG_ID: ReadonlyMap<string, ProviderName> = new Map(
  Object.values(PROVIDERS).map(({ catalogId, name }) => [catalogId, name]),
);
const FIELDS: readonly (readonly [field: string, usageClass: UsageClass])[] = [
  ['input_mtok', 'input'],
  ['output_mtok', 'output'],
  ['cache_read_mtok', 'cache_read'],
  ['cache_write_mtok', 'cache_creation_5m'],
  ['cache_write_1h_mtok', 'cache_creation_1h'],
  ['input_audio_mtok', 'input_audio'],
  ['output_audio_mtok', 'output_audio'],
  ['output_image_mtok', 'output_image'],
];

/** What the catalog lists there because another API of the same company serves it. */
const NOT_THEIRS: Readonly<Partial<Record<ProviderName, RegExp>>> = {
  gemini: /^claude-|-maas$/,
  bedrock: /^(?:claude-|regional\.)/,
};

function listProviders(file: unknown): readonly JsonRecord[] {
  const list = isRecord(file) ? file['providers'] : file;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export function isGenaiPrices(file: unknown): boolean {
  return listProviders(file).some(({ id, models }) => readText(id) !== undefined && Array.isArray(models));
}

/** The last dated price that began by `day`. Prices for hours are left out: they are not the price of the day. */
function readPrices(prices: unknown, day: string): JsonRecord {
  if (!Array.isArray(prices)) return readRecord(prices);
  const begun = prices.filter(isRecord).filter(({ constraint }) => {
    const start = readText(readRecord(constraint)['start_date']);
    return constraint == null || (start !== undefined && start <= day);
  });
  return readRecord(begun.at(-1)?.['prices']);
}

function readRates(prices: JsonRecord): readonly CatalogRate[] {
  return FIELDS.flatMap(([field, usageClass]): readonly CatalogRate[] => {
    const price = prices[field];
    const base = readNumber(isRecord(price) ? price['base'] : price);
    const tiers = isRecord(price) && Array.isArray(price['tiers']) ? price['tiers'].filter(isRecord) : [];
    const long = tiers.flatMap((tier): CatalogRate[] => {
      const [overTokens, usd] = [readNumber(tier['start']), readNumber(tier['price'])];
      return overTokens === undefined || usd === undefined ? [] : [{ usageClass, usd, overTokens }];
    });
    return base === undefined ? [] : [{ usageClass, usd: base }, ...long];
  });
}

function listEquals(match: unknown): readonly string[] {
  const rule = readRecord(match);
  const name = readText(rule['equals']);
  const inner = rule['or'];
  return [...(name === undefined ? [] : [name]), ...(Array.isArray(inner) ? inner.flatMap(listEquals) : [])];
}

function hasPart(match: unknown, id: string): boolean {
  const { contains, starts_with, ends_with, or } = readRecord(match);
  const [part, start, end] = [readText(contains), readText(starts_with), readText(ends_with)];
  if (Array.isArray(or)) return or.some((inner) => hasPart(inner, id));
  return (
    (part !== undefined && id.includes(part)) ||
    (start !== undefined && id.startsWith(start)) ||
    (end !== undefined && id.endsWith(end))
  );
}

/** Its own id may be a name of the catalog alone: the ids of the provider are those that its rule names or fits. */
function listIds(id: string, match: unknown): readonly string[] {
  const named = listEquals(match);
  return named.length > 0 || !hasPart(match, id) ? named : [id];
}

export function readGenaiPrices(file: unknown, day: string): readonly CatalogEntry[] {
  return listProviders(file).flatMap(({ id, models }) => {
    const provider = BY_CATALOG_ID.get(readText(id) ?? '');
    if (provider === undefined || !Array.isArray(models)) return [];
    return models.filter(isRecord).flatMap((entry): CatalogEntry[] => {
      if (entry['deprecated'] === true) return [];
      const rates = readRates(readPrices(entry['prices'], day));
      return listIds(readText(entry['id']) ?? '', entry['match'])
        .filter((model) => !NOT_THEIRS[provider]?.test(model))
        .map((model) => ({ provider, model, rates }));
    });
  });
}
