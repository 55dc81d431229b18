/** Compiles `@pydantic/genai-prices` to price rows. Its own calculator works in floats and skips unknown prices. */
import { findProvider, type ModelInfo, type ModelPrice, type Provider } from '@pydantic/genai-prices';
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import type { UsageClass } from '../vocabulary/token-usage.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { closeExpressions, type ModelMatch, type ModelTest } from './model-match.ts';
import { createBedrockReach, type Reach, reachesForms, reachesNothing } from './model-reach.ts';
import { COMMERCIAL } from './place.ts';
import { type Calendar, PER_HOUR_OF_MS, PER_MILLION, PER_THOUSAND, type PriceRow } from './price-row.ts';

export const CATALOG_PROVIDER_IDS: readonly string[] = Object.values(PROVIDERS).map(({ catalogId }) => catalogId);

export interface CatalogData {
  readonly name: string;
  readonly checkedOn: string;
  readonly findProvider: (providerId: string) => Pick<Provider, 'models'> | undefined;
}

/** The installed release and its data's day; a test compares the release. */
export const CATALOG_RELEASE = '0.1.8';

export const BUNDLED_CATALOG: CatalogData = {
  name: `@pydantic/genai-prices ${CATALOG_RELEASE}`,
  checkedOn: '2026-09-23',
  findProvider: (providerId) => findProvider({ providerId }),
};

/** The price keys that our classes can express; a class with any other key stays unpriced. */
const PRICE_KEYS: ReadonlyMap<string, readonly UsageClass[]> = new Map(
  Object.entries({
    input_mtok: ['input'],
    input_audio_mtok: ['input_audio'],
    input_image_mtok: ['input_image'],
    input_video_mtok: ['input_video'],
    cache_read_mtok: ['cache_read'],
    cache_audio_read_mtok: ['cache_read_audio'],
    cache_image_read_mtok: ['cache_read_image'],
    // The write rate is for the default lifetime: 5 minutes at Anthropic and AWS, 30 at OpenAI.
    cache_write_mtok: ['cache_creation_5m', 'cache_creation_30m'],
    cache_write_1h_mtok: ['cache_creation_1h'],
    output_mtok: ['output'],
    output_audio_mtok: ['output_audio'],
    output_image_mtok: ['output_image'],
    output_video_mtok: ['output_video'],
  } as const),
);
/** Prices of other units than tokens, which no tier changes. `audio_hours` repeats input hours. */
const COUNTED_KEYS: ReadonlyMap<string, { readonly usageClass: UsageClass; readonly per: number }> = new Map(
  Object.entries({
    web_searches_kcount: { usageClass: 'web_search_requests', per: PER_THOUSAND },
    storage_searches_kcount: { usageClass: 'file_search_requests', per: PER_THOUSAND },
    input_audio_hours: { usageClass: 'input_audio_ms', per: PER_HOUR_OF_MS },
  } as const),
);

/** Lifetimes that a provider does not sell; its write rate is for the other one. */
const NOT_SOLD: Readonly<Partial<Record<ProviderName, readonly UsageClass[]>>> = {
  openai: ['cache_creation_5m'],
  anthropic: ['cache_creation_30m'],
};

/** The catalog's write price covers two classes; this one does not exist at the provider. */
export function isRepeated(provider: ProviderName, unit: UsageClass): boolean {
  return unit === (provider === 'openai' ? 'cache_creation_5m' : 'cache_creation_30m');
}

/** Google's "write" figures are storage prices per hour divided by twelve. */
const IGNORED_KEYS: Readonly<Partial<Record<ProviderName, readonly string[]>>> = { gemini: ['cache_write_mtok'] };

/** OpenAI's long-context rate is for MORE than 272,000 tokens; the catalog starts one early (issue 711). */
const TIER_START_CORRECTIONS: ReadonlyMap<number, number> = new Map([[271_999, 272_000]]);

export interface CatalogModel {
  readonly id: string;
  readonly appliesTo: ModelTest;
  readonly rows: () => readonly PriceRow[];
}

export interface Catalog {
  readonly name: string;
  readonly checkedOn: string;
  readonly findModel: (provider: ProviderName, model: string) => CatalogModel | undefined;
  readonly listModels: (provider: ProviderName) => readonly CatalogModel[];
  readonly data: () => string;
}

interface Condition {
  readonly key: string;
  readonly validFromMs: number | null;
  readonly validToMs: number | null;
  readonly calendar: Calendar | null;
  readonly prices: ModelPrice;
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7] as const;

function readMinute(time: string): number | null {
  const match = /^(\d{2}):(\d{2}):00Z$/.exec(time);
  return match === null ? null : Number(match[1]) * 60 + Number(match[2]);
}

/** A model's dated price variants; null when a constraint is not understood. */
function readConditions(model: ModelInfo): readonly Condition[] | null {
  const undated = { key: '', validFromMs: null, validToMs: null, calendar: null };
  if (!Array.isArray(model.prices)) return [{ ...undated, prices: model.prices }];
  const conditions: Condition[] = [];
  for (const { constraint, prices } of model.prices) {
    if (constraint === undefined) {
      conditions.push({ ...undated, prices });
    } else if (constraint.type === 'start_date') {
      const startMs = Date.parse(`${constraint.start_date}T00:00:00Z`);
      if (Number.isNaN(startMs)) return null;
      // A new price ends the one before, also for classes that it no longer names.
      for (const [index, before] of conditions.entries())
        if (before.calendar === null && before.validToMs === null)
          conditions[index] = { ...before, validToMs: startMs };
      conditions.push({ ...undated, key: `@${constraint.start_date}`, validFromMs: startMs, prices });
    } else {
      const fromMinute = readMinute(constraint.start_time);
      const toMinute = readMinute(constraint.end_time);
      if (fromMinute === null || toMinute === null) return null;
      const calendar = { utcOffsetMinutes: 0, weekdays: EVERY_DAY, fromMinute, toMinute };
      conditions.push({ ...undated, key: `@${constraint.start_time}`, calendar, prices });
    }
  }
  return conditions;
}

/** A float's shortest decimal is the published figure; null for an implausible price. */
function readRate(value: number): Decimal | null {
  if (!Number.isFinite(value) || value < 0) return null;
  try {
    return parseDecimal(String(value));
  } catch {
    return null;
  }
}

function readSteps(price: ModelPrice[string]): readonly (readonly [number, number])[] {
  if (price === undefined) return [];
  if (typeof price === 'number') return [[-1, price]];
  const tiers = [...price.tiers].sort((a, b) => a.start - b.start);
  return [
    [-1, price.base],
    ...tiers.map((tier) => [TIER_START_CORRECTIONS.get(tier.start) ?? tier.start, tier.price] as const),
  ];
}

function compileModel(
  provider: ProviderName,
  model: ModelInfo,
  appliesTo: ModelTest,
  { name, checkedOn }: CatalogData,
): readonly PriceRow[] {
  const rows: PriceRow[] = [];
  for (const { key: conditionKey, prices, ...dated } of readConditions(model) ?? []) {
    for (const [priceKey, price] of Object.entries(prices)) {
      if (IGNORED_KEYS[provider]?.includes(priceKey)) continue;
      const counted = COUNTED_KEYS.get(priceKey);
      const units = counted === undefined ? (PRICE_KEYS.get(priceKey) ?? []) : [counted.usageClass];
      const steps = readSteps(price);
      for (const [index, [overTokens, value]] of steps.entries()) {
        const rate = readRate(value);
        if (rate === null) continue;
        const upToTokens = steps[index + 1]?.[0] ?? Number.MAX_SAFE_INTEGER;
        for (const usageClass of units.filter((sold) => NOT_SOLD[provider]?.includes(sold) !== true))
          rows.push({
            key: `catalog/${provider}/${model.id}/${usageClass}${conditionKey}${overTokens < 0 ? '' : `>${overTokens}`}`,
            layer: 'catalog',
            provider,
            appliesTo,
            serviceTier: counted === undefined ? 'standard' : 'any',
            ...dated,
            promptTier: steps.length === 1 ? null : { overTokens, upToTokens },
            picture: null,
            places: listPlaces(provider, model.id),
            usageClass,
            rate,
            per: counted?.per ?? PER_MILLION,
            source: name,
            checkedOn,
          });
      }
    }
  }
  return rows;
}

/** Anthropic's and OpenAI's models cost the same throughout AWS's public partition. */
function listPlaces(provider: ProviderName, id: string): readonly string[] | null {
  return provider === 'bedrock' && /^regional\.(?:anthropic|openai)\./.test(id) ? [COMMERCIAL] : null;
}

/** Catalog names that are no models of the provider: resellers' words for a request setting. */
export const NOT_THE_PROVIDERS: readonly string[] = [
  'o3-mini-high',
  'o4-mini-high',
  'gpt-5.1-mini',
  'gpt-5-1-mini',
  'accounts/fireworks/models/deepseek-v4-flash-0731',
  // DeepSeek names that only other hosts serve, at their prices.
  'deepseek-r1',
  'deepseek-r1-0528',
  'deepseek-v3.1-terminus',
  'deepseek-v3.2',
  'deepseek-v3.2-exp',
];

/** Catalog rules that take every name with a word in it. */
const CORRECTED_MATCHES: ReadonlyMap<string, ModelMatch> = new Map([
  ['openai/moderation', { regex: '^(omni|text)-moderation(-latest|-stable|-00\\d|-20\\d\\d-\\d\\d-\\d\\d)?$' }],
  ['anthropic/claude-2', { regex: '^claude-(2|2\\.[01]|v2|v2:1)$' }],
]);

function readReach(provider: ProviderName, { id }: ModelInfo): Reach {
  if (provider === 'bedrock') return createBedrockReach(id);
  return provider === 'deepseek' ? reachesNothing : reachesForms;
}

function createAppliesTo(provider: ProviderName, model: ModelInfo): ModelTest {
  const reach = readReach(provider, model);
  const test = closeExpressions(CORRECTED_MATCHES.get(`${provider}/${model.id}`) ?? model.match, reach);
  return (name) => test(name) && !NOT_THE_PROVIDERS.includes(name.toLowerCase());
}

function createCatalogModel(provider: ProviderName, model: ModelInfo, data: CatalogData): CatalogModel {
  const appliesTo = createAppliesTo(provider, model);
  return { id: model.id, appliesTo, rows: () => compileModel(provider, model, appliesTo, data) };
}

/** Compiles a provider when first asked for; the price book keeps a model's rows. */
export function createCatalog(data: CatalogData = BUNDLED_CATALOG): Catalog {
  const models = new Map<ProviderName, readonly CatalogModel[]>();
  const listModels = (provider: ProviderName): readonly CatalogModel[] => {
    const known = models.get(provider);
    if (known !== undefined) return known;
    const found = data.findProvider(PROVIDERS[provider].catalogId)?.models ?? [];
    const compiled = found.map((model) => createCatalogModel(provider, model, data));
    models.set(provider, compiled);
    return compiled;
  };
  return {
    name: data.name,
    checkedOn: data.checkedOn,
    listModels,
    findModel: (provider, model) => listModels(provider).find((candidate) => candidate.appliesTo(model)),
    data: () =>
      JSON.stringify(
        CATALOG_PROVIDER_IDS.map((providerId) =>
          (data.findProvider(providerId)?.models ?? []).map(({ id, match, prices }) => ({ id, match, prices })),
        ),
      ),
  };
}
