/** The words of the Prices page for the closed lists of the API: providers, terms, units, reasons. */
import { PROVIDERS } from '../../../../src/providers/registry.ts';
import type { Provider, Rates, ServiceTier } from '../../api/prices.ts';

type UsageClass = keyof Rates;

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

const TIERS: Readonly<Record<ServiceTier, string>> = {
  standard: 'standard',
  flex: 'flex',
  priority: 'priority',
  batch: 'batch',
  any: 'any tier',
};

function listChoices<T extends string>(words: Readonly<Record<T, string>>): readonly Choice<T>[] {
  const choices: Choice<T>[] = [];
  let value: T;
  for (value in words) choices.push({ value, label: words[value] });
  return choices;
}

export const PROVIDER_CHOICES: readonly Choice<Provider>[] = Object.values(PROVIDERS).map(({ name, displayName }) => ({
  value: name,
  label: displayName,
}));
/** What a form begins with. */
export const START_PROVIDER: Provider = 'openai';
export const TIER_CHOICES = listChoices(TIERS);

export function readProvider(text: string | undefined): Provider | undefined {
  return PROVIDER_CHOICES.find(({ value }) => value === text)?.value;
}

const PER_TOKENS = 'USD per 1M tokens';
const PER_REQUESTS = 'USD per 1,000 requests';

/** What a rate of the class is for. Every class has its unit: the compiler asks for a new one. */
export const RATE_UNITS: Readonly<Record<UsageClass, string>> = {
  input: PER_TOKENS,
  cache_read: PER_TOKENS,
  cache_creation_5m: PER_TOKENS,
  cache_creation_30m: PER_TOKENS,
  cache_creation_1h: PER_TOKENS,
  cache_creation_12h: PER_TOKENS,
  output: PER_TOKENS,
  input_audio: PER_TOKENS,
  input_image: PER_TOKENS,
  input_video: PER_TOKENS,
  cache_read_audio: PER_TOKENS,
  cache_read_image: PER_TOKENS,
  cache_read_video: PER_TOKENS,
  output_audio: PER_TOKENS,
  output_image: PER_TOKENS,
  output_video: PER_TOKENS,
  input_audio_ms: 'USD per minute of audio',
  input_characters: 'USD per 1M characters',
  output_images: 'USD per 1,000 images',
  rerank_queries: 'USD per 1,000 queries',
  web_search_requests: PER_REQUESTS,
  web_fetch_requests: PER_REQUESTS,
  file_search_requests: PER_REQUESTS,
  code_execution_requests: PER_REQUESTS,
  maps_requests: PER_REQUESTS,
  grounded_prompts: 'USD per 1,000 answers',
};

export const CLASS_CHOICES = listChoices(RATE_UNITS).map(({ value }) => value);

export function readClasses(text: string | undefined): readonly UsageClass[] {
  const names = text?.split(',') ?? [];
  return CLASS_CHOICES.filter((name) => names.includes(name));
}

const UNIT_WORDS: Readonly<Record<string, string>> = {
  input_audio_ms: 'minutes of audio',
  input_characters: 'characters',
  output_images: 'pictures',
  rerank_queries: 'queries',
  grounded_prompts: 'answers',
};

/** What `per` units of a class are: `1M tokens`, `minute of audio`, `1,000 requests`. */
export function describePer(unit: string, per: number): string {
  if (unit === 'input_audio_ms')
    return per === 3_600_000 ? 'hour of audio' : per === 60_000 ? 'minute of audio' : `${per} ms`;
  const isCounted = Object.hasOwn(UNIT_WORDS, unit) || unit.endsWith('_requests');
  const word = isCounted ? (UNIT_WORDS[unit] ?? 'requests') : 'tokens';
  return `${per === 1_000_000 ? '1M' : per.toLocaleString('en-US')} ${word}`;
}

const REASONS: Readonly<Record<string, string>> = {
  unknown_model: 'The price book does not know this model.',
  opaque_id: 'The id does not say which model it stands for.',
  no_rate_for_class: 'The model has a price, but not for all of what was used.',
  terms: 'The model has a price, but not on these terms.',
  unknown_endpoint: 'The gateway does not know this endpoint.',
  result_unread: 'A result was fetched and could not be read.',
  priced_by_now: 'It has a price by now; these calls came before.',
  no_model: 'Neither the request nor the answer names a model.',
};

export function describeReason(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? reason) : reason;
}
