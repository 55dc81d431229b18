/**
 * Price rules of the providers that hold for many models: multipliers for the terms of a call, classes billed at the
 * rate of another class, and names that stand for another model. Each is declared by its provider; none is a guess.
 */
import type { ProviderName } from '../call-record.ts';
import { COUNTED_CLASSES, USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import type { ModelMatch } from './model-match.ts';
import { RESIDENCY } from './place.ts';

interface Sourced {
  /** Unique; stored with the lines that used the rule. */
  readonly name: string;
  readonly provider: ProviderName;
  readonly match: ModelMatch;
  /** ISO instants. */
  readonly from?: string;
  readonly to?: string;
  readonly source: string;
  readonly checkedOn: string;
}

/** The terms of a call that can change its price. */
export type TermName = 'serviceTier' | 'speed' | 'inferenceGeo' | 'place';

/** On these terms, these classes cost their standard rate times the factor. */
export interface MultiplierRule extends Sourced {
  readonly term: TermName;
  readonly value: string;
  readonly factor: string;
  readonly units: readonly UsageClass[];
}

/** A class without a rate of its own is billed at a factor of another class's rate. */
export interface DerivedRule extends Sourced {
  readonly units: readonly UsageClass[];
  readonly of: UsageClass;
  readonly factor: string;
}

/** From this time on the name is served by, and billed as, the other model. */
export interface AliasRule extends Sourced {
  readonly model: string;
}

const ANY: ModelMatch = { regex: '' };
const ONE_PRICE_GEMINI: ModelMatch = { regex: '^gemini-(2\\.5-pro|3-pro-preview|3\\.1-pro-preview)(?!.*-tts)' };
/** The models whose tables for all tiers were compared. */
const GEMINI_2_5: ModelMatch = { regex: '^gemini-2\\.5-(pro|flash|flash-lite)$' };
/** Not the image tool's model, of which no price list says what it costs within a flex call. */
const FLEX_GPT: ModelMatch = { regex: '^(gpt-[56]|o\\d)' };
/** Models that read pictures and write text. */
const TEXT_GPT: ModelMatch = { regex: '^(gpt-(4\\.|4o|5|6)|o[134])(?!.*(audio|image|realtime|transcribe|tts))' };
/** "Until 11:59 pm PT on February 16": midnight in San Francisco. */
const FAST_LAUNCH_END = '2026-02-17T08:00:00Z';
const TOKENS = USAGE_CLASSES.filter((unit) => !COUNTED_CLASSES.includes(unit));
const CACHED = TOKENS.filter((unit) => unit.startsWith('cache_read'));
const INPUT_AND_OUTPUT = TOKENS.filter((unit) => unit.startsWith('input') || unit.startsWith('output'));

const DATED = '(-\\d{4}-\\d{2}-\\d{2})?$';
/** By their model pages released on 2026-03-05 or later. */
const SINCE_UPLIFT: ModelMatch = {
  regex: `^(gpt-5\\.[4-9](-[a-z]+)*|gpt-6(\\.\\d)?-[a-z]+|gpt-image-2)${DATED}`,
};
const BEFORE_UPLIFT: ModelMatch = {
  regex: `^(gpt-3\\.5-turbo|gpt-4|gpt-4-turbo|gpt-4o|gpt-4o-mini|gpt-4\\.1|gpt-4\\.1-(mini|nano)|gpt-5|gpt-5-(mini|nano|pro|codex)|gpt-5\\.[1-3](-[a-z]+)*|o1|o1-(mini|pro)|o3|o3-(mini|pro)|o4-mini|text-embedding-3-(small|large)|text-embedding-ada-002|gpt-image-1|gpt-image-1-mini|gpt-4o-(mini-)?transcribe|gpt-4o-mini-tts|gpt-realtime|gpt-audio)${DATED}`,
};
/** Where the catalogue's price is that of the US regions or, without a premium, of all commercial ones. */
const IN_GOVCLOUD: ModelMatch = {
  regex:
    '^(amazon\\.nova-pro-v1:0|openai\\.gpt-oss-120b(-1:0)?|anthropic\\.claude-3-5-sonnet-20240620-v1:0|anthropic\\.claude-3-haiku-20240307-v1:0|anthropic\\.claude-3-7-sonnet-20250219-v1:0)$',
};

export const MULTIPLIER_RULES: readonly MultiplierRule[] = [
  {
    name: 'openai/residency',
    provider: 'openai',
    match: SINCE_UPLIFT,
    term: 'place',
    value: RESIDENCY,
    factor: '1.1',
    units: TOKENS,
    source: 'OpenAI, data residency: regional endpoints cost 10 % more for models released on or after 2026-03-05',
    checkedOn: '2026-11-29',
  },
  {
    name: 'openai/residency-of-older-models',
    provider: 'openai',
    match: BEFORE_UPLIFT,
    term: 'place',
    value: RESIDENCY,
    factor: '1',
    units: TOKENS,
    source: 'OpenAI, data residency: no uplift on models released before 2026-03-05',
    checkedOn: '2026-11-29',
  },
  {
    name: 'bedrock/govcloud',
    provider: 'bedrock',
    match: IN_GOVCLOUD,
    term: 'place',
    value: 'us-gov',
    factor: '1.2',
    units: INPUT_AND_OUTPUT,
    source: 'AWS, price list of GovCloud, as BerriAI/litellm#39764 read it and its map of 2026-08-01 has it',
    checkedOn: '2026-08-01',
  },
  ...(
    [
      ['flex', '0.5'],
      ['priority', '1.75'],
    ] as const
  ).map(
    ([value, factor]): MultiplierRule => ({
      name: `bedrock/${value}/gpt-oss-20b`,
      provider: 'bedrock',
      match: { regex: '^openai\\.gpt-oss-20b(-1:0)?$' },
      term: 'serviceTier',
      value,
      factor,
      units: INPUT_AND_OUTPUT,
      source: 'AWS, Bedrock pricing, service tiers of gpt-oss-20b',
      checkedOn: '2026-09-01',
    }),
  ),
  {
    name: 'openai/batch',
    provider: 'openai',
    match: ANY,
    term: 'serviceTier',
    value: 'batch',
    factor: '0.5',
    units: INPUT_AND_OUTPUT,
    source: 'OpenAI, Batch API: 50 % off',
    checkedOn: '2026-08-27',
  },
  {
    // Older models have no cached price in a batch: their cached tokens cost what the batch's input costs.
    name: 'openai/batch-cached',
    provider: 'openai',
    match: { regex: '^gpt-(5|6)' },
    term: 'serviceTier',
    value: 'batch',
    factor: '0.5',
    units: TOKENS,
    source: 'OpenAI, API pricing, batch table: half of the cached price since GPT-5, none before',
    checkedOn: '2026-11-28',
  },
  {
    name: 'openai/flex',
    provider: 'openai',
    match: FLEX_GPT,
    term: 'serviceTier',
    value: 'flex',
    factor: '0.5',
    units: TOKENS,
    source: 'OpenAI, flex processing: tokens at Batch API rates',
    checkedOn: '2026-08-27',
  },
  {
    name: 'openai/fast/gpt-6.2-sol',
    provider: 'openai',
    match: { regex: '^gpt-6\\.2-sol(-\\d{4}-\\d{2}-\\d{2})?$' },
    term: 'serviceTier',
    value: 'priority',
    factor: '2',
    units: TOKENS,
    source: 'OpenAI, model page of GPT-6.2 Sol: fast mode at twice the standard rate, for prompts of either length',
    checkedOn: '2026-11-28',
  },
  {
    name: 'anthropic/batch',
    provider: 'anthropic',
    match: ANY,
    term: 'serviceTier',
    value: 'batch',
    factor: '0.5',
    units: TOKENS,
    source: 'Anthropic, Message Batches: 50 % of every token rate',
    checkedOn: '2026-08-21',
  },
  ...(['batch', 'flex'] as const).flatMap((value): MultiplierRule[] => [
    {
      name: `gemini/${value}`,
      provider: 'gemini',
      match: ANY,
      term: 'serviceTier',
      value,
      factor: '0.5',
      units: INPUT_AND_OUTPUT,
      source: 'Google, Gemini API pricing: batch and flex at half the standard input and output price',
      checkedOn: '2026-07-30',
    },
    {
      name: `gemini/${value}-cached`,
      provider: 'gemini',
      match: GEMINI_2_5,
      term: 'serviceTier',
      value,
      factor: '1',
      units: CACHED,
      source: 'Google, Gemini API pricing: cached tokens cost the same in batch and flex',
      checkedOn: '2026-07-30',
    },
  ]),
  {
    name: 'gemini/priority',
    provider: 'gemini',
    match: GEMINI_2_5,
    term: 'serviceTier',
    value: 'priority',
    factor: '1.8',
    units: TOKENS,
    source: 'Google, Gemini API pricing, priority table',
    checkedOn: '2026-07-30',
  },
  {
    name: 'fireworks/batch',
    provider: 'fireworks',
    match: ANY,
    term: 'serviceTier',
    value: 'batch',
    factor: '0.5',
    units: INPUT_AND_OUTPUT,
    source: 'Fireworks, batch inference: 50 % on input and output',
    checkedOn: '2026-11-28',
  },
  ...[
    { model: 'claude-opus-4-6', factor: '3', to: FAST_LAUNCH_END, name: 'claude-opus-4-6@launch' },
    { model: 'claude-opus-4-6', factor: '6', from: FAST_LAUNCH_END },
    { model: 'claude-opus-4-7', factor: '6' },
    { model: 'claude-opus-4-8', factor: '2' },
    { model: 'claude-opus-5', factor: '2' },
    { model: 'claude-opus-5-5', factor: '2' },
  ].map(
    ({ model, factor, name, ...dated }): MultiplierRule => ({
      name: `anthropic/fast/${name ?? model}`,
      provider: 'anthropic',
      match: { regex: `^${model}(-\\d{8})?$` },
      ...dated,
      term: 'speed',
      value: 'fast',
      factor,
      units: TOKENS,
      source: 'Anthropic, fast mode; prompt caching and residency multiply on top',
      checkedOn: '2026-11-28',
    }),
  ),
  {
    name: 'anthropic/us',
    provider: 'anthropic',
    match: ANY,
    term: 'inferenceGeo',
    value: 'us',
    factor: '1.1',
    units: TOKENS,
    source: 'Anthropic, data residency: 1.1 times every token category',
    checkedOn: '2026-08-21',
  },
];

export const DERIVED_RULES: readonly DerivedRule[] = [
  {
    name: 'openai/cached-without-discount',
    provider: 'openai',
    match: ANY,
    units: ['cache_read'],
    of: 'input',
    factor: '1',
    source: 'OpenAI, API pricing: models without a cached price have no discount',
    checkedOn: '2026-08-21',
  },
  {
    name: 'openai/cache-write',
    provider: 'openai',
    match: { regex: '^gpt-(5\\.6|6)(-|$)' },
    units: ['cache_creation_30m'],
    of: 'input',
    factor: '1.25',
    source: 'OpenAI, prompt caching: writes at 1.25 times the uncached rate',
    checkedOn: '2026-08-21',
  },
  {
    name: 'openai/image-output',
    provider: 'openai',
    match: { regex: '^gpt-image-(1|1-mini|2)(-\\d{4}-\\d{2}-\\d{2})?$' },
    units: ['output_image'],
    of: 'output',
    factor: '1',
    source: 'OpenAI, API pricing: the output price of these models is for image tokens',
    checkedOn: '2026-08-21',
  },
  {
    name: 'openai/image-input',
    provider: 'openai',
    match: TEXT_GPT,
    units: ['input_image'],
    of: 'input',
    factor: '1',
    source: 'OpenAI, images and vision: image inputs of text models are metered as text tokens',
    checkedOn: '2026-11-28',
  },
  {
    name: 'openai/image-cached',
    provider: 'openai',
    match: TEXT_GPT,
    units: ['cache_read_image'],
    of: 'cache_read',
    factor: '1',
    source: 'OpenAI, images and vision: image inputs of text models are metered as text tokens',
    checkedOn: '2026-11-28',
  },
  {
    name: 'gemini/image-and-video-input',
    provider: 'gemini',
    match: ANY,
    units: ['input_image', 'input_video'],
    of: 'input',
    factor: '1',
    source: 'Google, Gemini API pricing: one price for text, image and video',
    checkedOn: '2026-08-21',
  },
  {
    name: 'gemini/image-and-video-cached',
    provider: 'gemini',
    match: ANY,
    units: ['cache_read_image', 'cache_read_video'],
    of: 'cache_read',
    factor: '1',
    source: 'Google, Gemini API pricing: one price for text, image and video',
    checkedOn: '2026-08-21',
  },
  {
    name: 'gemini/one-price-audio',
    provider: 'gemini',
    match: ONE_PRICE_GEMINI,
    units: ['input_audio'],
    of: 'input',
    factor: '1',
    source: 'Google, Gemini API pricing: the Pro models have one input price for every modality',
    checkedOn: '2026-08-21',
  },
  {
    name: 'gemini/one-price-audio-cached',
    provider: 'gemini',
    match: ONE_PRICE_GEMINI,
    units: ['cache_read_audio'],
    of: 'cache_read',
    factor: '1',
    source: 'Google, Gemini API pricing: the Pro models have one input price for every modality',
    checkedOn: '2026-08-21',
  },
  {
    name: 'gemini/speech-output',
    provider: 'gemini',
    match: { regex: '^gemini-.*-tts$' },
    units: ['output_audio'],
    of: 'output',
    factor: '1',
    source: 'Google, Gemini API pricing: the output price of these models is for audio',
    checkedOn: '2026-08-21',
  },
  {
    name: 'bedrock/claude-1h-write',
    provider: 'bedrock',
    match: { regex: 'anthropic\\.claude-' },
    units: ['cache_creation_1h'],
    of: 'input',
    factor: '2',
    source: 'AWS and Anthropic: a one-hour cache write is twice the input price',
    checkedOn: '2026-08-21',
  },
];

/** Since then V4 Flash is itself a name for another model. One rule counts for a name, so each names the last model. */
const V4_FLASH_ENDS = '2026-09-10T04:00:00Z';

export const ALIAS_RULES: readonly AliasRule[] = [
  ...['openai.gpt-oss-20b', 'openai.gpt-oss-120b'].map(
    (model): AliasRule => ({
      name: `bedrock/${model}`,
      provider: 'bedrock',
      match: { equals: model },
      model: `${model}-1:0`,
      source: 'AWS, Bedrock user guide, OpenAI models: the name without its version on the OpenAI-compatible endpoint',
      checkedOn: '2026-11-29',
    }),
  ),
  ...['deepseek-chat', 'deepseek-reasoner'].flatMap((model): AliasRule[] => {
    const shared = {
      provider: 'deepseek',
      match: { equals: model },
      // To be switched off on 2026-07-24: whoever is still served is served by what came after.
      source: 'DeepSeek, release of V4: both names are served by V4 Flash, and that by V4.1 Flash since its release',
      checkedOn: '2026-11-28',
    } as const;
    return [
      {
        ...shared,
        name: `deepseek/${model}`,
        model: 'deepseek-v4-flash',
        from: '2026-04-24T00:00:00Z',
        to: V4_FLASH_ENDS,
      },
      { ...shared, name: `deepseek/${model}@2026-09-10`, model: 'deepseek-flash', from: V4_FLASH_ENDS },
    ];
  }),
  {
    name: 'deepseek/deepseek-v4-flash',
    provider: 'deepseek',
    match: { regex: '^deepseek-v4-flash(-vision-exp)?$' },
    model: 'deepseek-flash',
    from: V4_FLASH_ENDS,
    source: 'DeepSeek, models and pricing: the names of V4 Flash are served by V4.1 Flash, at its price',
    checkedOn: '2026-11-15',
  },
];
