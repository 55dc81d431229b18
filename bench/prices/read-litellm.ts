/** litellm's `model_prices_and_context_window.json`: one object, a key for each route to a model, USD for one token. */
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';
import { type CatalogEntry, type CatalogRate, MILLION } from './catalog.ts';
import { isRecord, type JsonRecord, readNumber, readRecord, readText } from './price-object.ts';

/** Its names of the seven providers. */
export const LITELLM_PROVIDERS: Readonly<Record<string, ProviderName>> = {
  openai: 'openai',
  'text-completion-openai': 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  bedrock_mantle: 'bedrock',
  fireworks_ai: 'fireworks',
  'fireworks_ai-embedding-models': 'fireworks',
  together_ai: 'together',
  deepseek: 'deepseek',
};
const PREFIX = /^(?:openai|anthropic|gemini|bedrock(?:_mantle|_converse)?|fireworks_ai|together_ai|deepseek)\//;

/** Rows that are no model id: prices by size and quality of a picture, by size of the model, by region. */
const NO_MODEL =
  /^(?:\d|(?:hd|standard|low|medium|high|auto)\/|(?:max-x|512-x|1024-x|256-x)|together-ai-|fireworks-ai-|[a-z]{2}-[a-z-]+-\d\/|\*\/|invoke\/|claude_platform\/|guardrails$|container$|search$|commitment)|\/\d+-month-commitment|\/\d+-x-\d+\//;

const FIELDS: readonly (readonly [field: string, usageClass: UsageClass])[] = [
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cache_read'],
  ['cache_creation_input_token_cost', 'cache_creation_5m'],
  ['cache_creation_input_token_cost_above_1hr', 'cache_creation_1h'],
  ['input_cost_per_audio_token', 'input_audio'],
  ['output_cost_per_audio_token', 'output_audio'],
  ['output_cost_per_video_token', 'output_video'],
  ['output_cost_per_image_token', 'output_image'],
];
const TIERS = [
  ['batches', 'batch'],
  ['flex', 'flex'],
  ['priority', 'priority'],
] as const;
const LONG = /^([a-z_]+)_above_(\d+)k_tokens(?:_(batches|flex|priority))?$/;

function readRates(entry: JsonRecord): readonly CatalogRate[] {
  const rates: CatalogRate[] = [];
  const add = (field: string, rate: Omit<CatalogRate, 'usd'>, factor: number): void => {
    const usd = readNumber(entry[field]);
    if (usd !== undefined) rates.push({ ...rate, usd: usd * factor });
  };
  for (const [field, usageClass] of FIELDS) {
    add(field, { usageClass }, MILLION);
    for (const [suffix, tier] of TIERS) add(`${field}_${suffix}`, { usageClass, tier }, MILLION);
  }
  for (const field of Object.keys(entry)) {
    const [, base, thousands, suffix] = LONG.exec(field) ?? [];
    const usageClass = FIELDS.find(([name]) => name === base)?.[1];
    const tier = TIERS.find(([name]) => name === suffix)?.[1];
    const long = { overTokens: Number(thousands) * 1_000, ...(tier === undefined ? {} : { tier }) };
    if (usageClass !== undefined) add(field, { usageClass, ...long }, MILLION);
  }
  add('input_cost_per_second', { usageClass: 'input_audio_ms' }, 60);
  add('input_cost_per_character', { usageClass: 'input_characters' }, MILLION);
  add('output_cost_per_image', { usageClass: 'output_images' }, 1);
  add('input_cost_per_query', { usageClass: 'rerank_queries' }, 1);
  return rates;
}

export function isLitellm(file: unknown): file is JsonRecord {
  return isRecord(file) && Object.values(file).some((entry) => readText(readRecord(entry)['litellm_provider']));
}

/** Fireworks' own ids begin with an account, `accounts/…`, or are those of an embedding model: others are short for one. */
function toModelId(provider: ProviderName, model: string): string {
  return provider === 'fireworks' && !model.includes('/') ? `accounts/fireworks/models/${model}` : model;
}

/** Models that were switched off by `day` are left out. */
export function readLitellm(file: JsonRecord, day: string): readonly CatalogEntry[] {
  return Object.entries(file).flatMap(([key, value]): CatalogEntry[] => {
    const entry = readRecord(value);
    const provider = LITELLM_PROVIDERS[readText(entry['litellm_provider']) ?? ''];
    const model = key.replace(PREFIX, '');
    if (provider === undefined || NO_MODEL.test(model)) return [];
    if ((readText(entry['deprecation_date']) ?? '9999') <= day) return [];
    return [{ provider, model: toModelId(provider, model), rates: readRates(entry) }];
  });
}
