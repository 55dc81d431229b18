/**
 * Prices that the catalogue lacks or has wrong, each with its source and the day it was checked. Of two cards in force
 * for one class the later one in this list counts. Rules that hold for many models stand in `overlay-rules.ts`.
 */
import { BEDROCK_PLACE_CARDS } from './bedrock-place-cards.ts';
import { DEEPSEEK_RATE_CARDS } from './deepseek-rate-cards.ts';
import type { ModelMatch } from './model-match.ts';
import { createRates, matchSnapshots, type RateCard, type Triple } from './overlay-row.ts';
import type { PromptTier } from './price-row.ts';

const SHORT_CONTEXT: PromptTier = { overTokens: -1, upToTokens: 272_000 };
const LONG_CONTEXT: PromptTier = { overTokens: 272_000, upToTokens: Number.MAX_SAFE_INTEGER };

/** OpenAI's priority processing, named "fast mode" since 2026-07-30. Its factor differs by model: 1.67 to 2.5. */
function createPriorityCard(
  name: string,
  rates: Triple,
  more: Partial<Pick<RateCard, 'match' | 'from' | 'to' | 'promptTier'>> = {},
): RateCard {
  return {
    name: `openai/priority/${name}`,
    provider: 'openai',
    match: matchSnapshots(name),
    rates: createRates(rates),
    serviceTier: 'priority',
    source: 'OpenAI, "Fast mode for API customers" (formerly "Priority processing")',
    checkedOn: '2026-11-28',
    ...more,
  };
}

const GPT_5_6_SOL: ModelMatch = { regex: '^gpt-5\\.6(-sol)?(-\\d{4}-\\d{2}-\\d{2})?$' };
const FAST_MODE_FROM = '2026-07-30T00:00:00Z';
const SOL_CUT = '2026-08-21T00:00:00Z';

const OPENAI_PRIORITY: readonly RateCard[] = [
  createPriorityCard('gpt-4o', ['4.25', '2.125', '17'], { match: { regex: '^gpt-4o(-2024-08-06|-2024-11-20)?$' } }),
  createPriorityCard('gpt-4o-2024-05-13', ['8.75', null, '26.25'], { match: { equals: 'gpt-4o-2024-05-13' } }),
  createPriorityCard('gpt-4o-mini', ['0.25', '0.125', '1']),
  createPriorityCard('gpt-4.1', ['3.5', '0.875', '14']),
  createPriorityCard('gpt-4.1-mini', ['0.7', '0.175', '2.8']),
  createPriorityCard('gpt-4.1-nano', ['0.2', '0.05', '0.8']),
  createPriorityCard('o3', ['3.5', '0.875', '14']),
  createPriorityCard('o4-mini', ['2', '0.5', '8']),
  createPriorityCard('gpt-5', ['2.5', '0.25', '20']),
  createPriorityCard('gpt-5-mini', ['0.45', '0.045', '3.6']),
  createPriorityCard('gpt-5-codex', ['2.5', '0.25', '20']),
  createPriorityCard('gpt-5.1', ['2.5', '0.25', '20']),
  createPriorityCard('gpt-5.1-codex', ['2.5', '0.25', '20']),
  createPriorityCard('gpt-5.2', ['3.5', '0.35', '28']),
  createPriorityCard('gpt-5.4', ['5', '0.5', '30'], { promptTier: SHORT_CONTEXT }),
  createPriorityCard('gpt-5.4-mini', ['1.5', '0.15', '9']),
  createPriorityCard('gpt-5.5', ['12.5', '1.25', '75'], { promptTier: SHORT_CONTEXT }),
  createPriorityCard('gpt-5.6-sol@2026-07-30', ['10', '1', '60'], {
    match: GPT_5_6_SOL,
    from: FAST_MODE_FROM,
    to: SOL_CUT,
    promptTier: SHORT_CONTEXT,
  }),
  createPriorityCard('gpt-5.6-sol', ['8', '0.8', '40'], {
    match: GPT_5_6_SOL,
    from: SOL_CUT,
    promptTier: SHORT_CONTEXT,
  }),
  createPriorityCard('gpt-5.6-sol/long', ['16', '1.6', '60'], {
    match: GPT_5_6_SOL,
    from: SOL_CUT,
    promptTier: LONG_CONTEXT,
  }),
  createPriorityCard('gpt-5.6-terra', ['4', '0.4', '24'], { from: FAST_MODE_FROM, promptTier: SHORT_CONTEXT }),
  createPriorityCard('gpt-5.6-terra/long', ['8', '0.8', '36'], {
    match: matchSnapshots('gpt-5.6-terra'),
    from: SOL_CUT,
    promptTier: LONG_CONTEXT,
  }),
  createPriorityCard('gpt-5.6-luna', ['0.4', '0.04', '2.4'], { from: FAST_MODE_FROM, promptTier: SHORT_CONTEXT }),
  createPriorityCard('gpt-5.6-luna/long', ['0.8', '0.08', '3.6'], {
    match: matchSnapshots('gpt-5.6-luna'),
    from: SOL_CUT,
    promptTier: LONG_CONTEXT,
  }),
];

/** Flex is half price (a rule), but two published figures are rounded, and the published figure is what is billed. */
const OPENAI_FLEX: readonly RateCard[] = [
  {
    name: 'openai/flex/gpt-5.4',
    provider: 'openai',
    match: matchSnapshots('gpt-5.4'),
    rates: { cache_read: '0.13' },
    serviceTier: 'flex',
    promptTier: SHORT_CONTEXT,
    source: 'OpenAI, API pricing, flex table',
    checkedOn: '2026-08-21',
  },
  {
    name: 'openai/flex/o4-mini',
    provider: 'openai',
    match: matchSnapshots('o4-mini'),
    rates: { cache_read: '0.138' },
    serviceTier: 'flex',
    source: 'OpenAI, API pricing, flex table',
    checkedOn: '2026-08-21',
  },
];

function createModelPageCard(name: string, match: ModelMatch, rates: RateCard['rates'], source: string): RateCard {
  return { name: `openai/${name}`, provider: 'openai', match, rates, source, checkedOn: '2026-11-28' };
}

/** Models since the catalogue was taken over. */
const OPENAI_NEWER: readonly RateCard[] = [
  {
    ...createModelPageCard(
      'gpt-6.2-sol',
      matchSnapshots('gpt-6.2-sol'),
      { input: '2', cache_read: '0.1', cache_creation_30m: '2.5', cache_creation_12h: '5', output: '10' },
      'OpenAI, model page of GPT-6.2 Sol: the price of a 12-hour write is that of short prompts',
    ),
    promptTier: SHORT_CONTEXT,
  },
  {
    ...createModelPageCard(
      'gpt-6.2-sol/long',
      matchSnapshots('gpt-6.2-sol'),
      { input: '4', cache_read: '0.2', cache_creation_30m: '5', output: '15' },
      'OpenAI, model page of GPT-6.2 Sol: over 272,000 tokens twice the input and cache rates, 1.5 times the output',
    ),
    promptTier: LONG_CONTEXT,
  },
];

/** Sound and pictures, where the catalogue lacks the model, its snapshots or one of its rates. */
const OPENAI_MEDIA: readonly RateCard[] = [
  createModelPageCard('tts-1', { regex: '^tts-1(-1106)?$' }, { input_characters: '15' }, 'OpenAI, model page of TTS-1'),
  createModelPageCard(
    'tts-1-hd',
    { regex: '^tts-1-hd(-1106)?$' },
    { input_characters: '30' },
    'OpenAI, model page of TTS-1: comparison with TTS-1 HD',
  ),
  createModelPageCard(
    'gpt-4o-mini-tts',
    matchSnapshots('gpt-4o-mini-tts'),
    { input: '0.6', output_audio: '12' },
    'OpenAI, model page of GPT-4o mini TTS',
  ),
  createModelPageCard(
    'gpt-4o-transcribe/snapshots',
    { regex: '^gpt-4o-transcribe-\\d{4}-\\d{2}-\\d{2}$' },
    { input: '2.5', input_audio: '6', output: '10' },
    'OpenAI, model page of GPT-4o Transcribe, as in the catalogue for the name without a date',
  ),
  createModelPageCard(
    'gpt-4o-mini-transcribe/snapshots',
    { regex: '^gpt-4o-mini-transcribe-\\d{4}-\\d{2}-\\d{2}$' },
    { input: '1.25', input_audio: '3', output: '5' },
    'OpenAI, model page of GPT-4o mini Transcribe, as in the catalogue for the name without a date',
  ),
  createModelPageCard(
    'gpt-4o-audio-preview',
    // The first snapshot had other rates for audio.
    { regex: '^gpt-4o-audio-preview(-2024-12-17|-2025-06-03)?$' },
    { input_audio: '40', output_audio: '80' },
    'OpenAI, model page of GPT-4o Audio',
  ),
  createModelPageCard(
    'gpt-4o-mini-audio-preview',
    matchSnapshots('gpt-4o-mini-audio-preview'),
    { input_audio: '10', output_audio: '20' },
    'OpenAI, model page of GPT-4o mini Audio',
  ),
  createModelPageCard(
    'gpt-image-2.5-and-2.6',
    { regex: '^gpt-image-2\\.[56]-(sunburst|flare)(-\\d{4}-\\d{2}-\\d{2})?$' },
    { input: '5', cache_read: '1.25', input_image: '8', cache_read_image: '2', output_image: '30' },
    'OpenAI, model page of GPT-Image-2.6 Sunburst; its announcements of 2.5 and 2.6: the rates of GPT Image 2',
  ),
];

/** The price of one picture, which a card has by the thousand. What the API makes of a request that names none: null. */
function createPictureCards(
  model: string,
  kinds: readonly (readonly [size: string, quality: string, thousand: string])[],
  source: string,
): readonly RateCard[] {
  return kinds.map(
    ([size, quality, thousand]): RateCard => ({
      name: `openai/${model}/${quality}/${size}`,
      provider: 'openai',
      match: { equals: model },
      rates: { output_images: thousand },
      picture: {
        sizes: size === DEFAULT_SIZE ? [size, null] : [size],
        qualities: quality === DEFAULT_QUALITY ? [quality, null] : [quality],
      },
      source,
      checkedOn: '2026-11-28',
    }),
  );
}

/** OpenAI's API reference, "Create image": what DALL·E makes when `size` and `quality` are left out. */
const DEFAULT_SIZE = '1024x1024';
const DEFAULT_QUALITY = 'standard';

const OPENAI_PICTURES: readonly RateCard[] = [
  ...createPictureCards(
    'dall-e-3',
    [
      ['1024x1024', 'standard', '40'],
      ['1024x1792', 'standard', '80'],
      ['1792x1024', 'standard', '80'],
      ['1024x1024', 'hd', '80'],
      ['1024x1792', 'hd', '120'],
      ['1792x1024', 'hd', '120'],
    ],
    'OpenAI, model page of DALL·E 3: per image, by quality and size',
  ),
  ...createPictureCards(
    'dall-e-2',
    [
      ['256x256', 'standard', '16'],
      ['512x512', 'standard', '18'],
      ['1024x1024', 'standard', '20'],
    ],
    'OpenAI, model page of DALL·E 2: per image, by size; it has one quality',
  ),
];

/** Tools are billed alike on every model; the catalogue has their price on most. */
const OPENAI_TOOLS: readonly RateCard[] = [
  createModelPageCard(
    'tools',
    {
      regex:
        '^(o3-pro|o3-deep-research|o4-mini-deep-research|gpt-5\\.1-codex-mini|gpt-5\\.3|gpt-5\\.3-codex|gpt-6\\.2-sol|gpt-chat-latest)(-\\d{4}-\\d{2}-\\d{2})?$',
    },
    { web_search_requests: '10', file_search_requests: '2.5' },
    'OpenAI, API pricing, built-in tools: web search on all models, file search',
  ),
  createModelPageCard(
    'web-search-preview',
    { equals: 'web_search_preview' },
    { web_search_requests: '25' },
    'OpenAI, API pricing, built-in tools: web search preview with models that do not reason',
  ),
];

const SONNET_5_5_READ_CUT = '2026-10-07T00:00:00Z';
/** A prompt of so many tokens is the longest at the lower price. */
const HAIKU_5_5_SHORT = 100_000;

function createSonnet55Card(name: string, cacheRead: string, dated: Pick<RateCard, 'from' | 'to'>): RateCard {
  return {
    name: `anthropic/${name}`,
    provider: 'anthropic',
    match: matchSnapshots('claude-sonnet-5-5'),
    rates: { input: '2', cache_read: cacheRead, cache_creation_5m: '2.5', cache_creation_1h: '4', output: '10' },
    ...dated,
    source: 'Anthropic, overview of Claude Sonnet 5.5; cache reads were halved on 2026-10-07',
    checkedOn: '2026-11-28',
  };
}

function createHaiku55Card(
  name: string,
  [input, cacheRead, write5m, write1h, output]: readonly [string, string, string, string, string],
  promptTier: PromptTier,
): RateCard {
  return {
    name: `anthropic/${name}`,
    provider: 'anthropic',
    match: matchSnapshots('claude-haiku-5-5'),
    rates: { input, cache_read: cacheRead, cache_creation_5m: write5m, cache_creation_1h: write1h, output },
    promptTier,
    source: 'Anthropic, overview of Claude Haiku 5.5: prompts up to and over 100,000 tokens',
    checkedOn: '2026-11-28',
  };
}

const ANTHROPIC: readonly RateCard[] = [
  {
    name: 'anthropic/web-fetch',
    provider: 'anthropic',
    match: { regex: '^claude-' },
    rates: { web_fetch_requests: '0' },
    source: 'Anthropic, web fetch tool: no charge beyond the tokens',
    checkedOn: '2026-08-21',
  },
  createSonnet55Card('claude-sonnet-5-5@2026-09-28', '0.2', { to: SONNET_5_5_READ_CUT }),
  createSonnet55Card('claude-sonnet-5-5', '0.1', { from: SONNET_5_5_READ_CUT }),
  createHaiku55Card('claude-haiku-5-5', ['0.1', '0.01', '0.125', '0.2', '0.5'], {
    overTokens: -1,
    upToTokens: HAIKU_5_5_SHORT,
  }),
  createHaiku55Card('claude-haiku-5-5/long', ['0.5', '0.05', '0.625', '1', '2.5'], {
    overTokens: HAIKU_5_5_SHORT,
    upToTokens: Number.MAX_SAFE_INTEGER,
  }),
  {
    name: 'anthropic/web-search',
    provider: 'anthropic',
    match: { regex: '^claude-(sonnet|haiku)-5-5(-\\d{8})?$' },
    rates: { web_search_requests: '10' },
    source: 'Anthropic, Pricing, web search tool: the same on every model',
    checkedOn: '2026-11-28',
  },
];

/** USD for a thousand pictures. */
function createImagenCard(model: string, rate: string): RateCard {
  return {
    name: `gemini/${model}`,
    provider: 'gemini',
    match: { equals: model },
    rates: { output_images: rate },
    source: 'Google, Gemini API pricing: Imagen, per image',
    checkedOn: '2026-11-28',
  };
}

/** What grounding costs, without the free quota. The class that is not billed costs a declared nothing. */
const GEMINI: readonly RateCard[] = [
  {
    name: 'gemini/grounding',
    provider: 'gemini',
    match: { regex: '^gemini-[3-9](\\.\\d+)?-' },
    rates: { web_search_requests: '14', grounded_prompts: '0', maps_requests: '14' },
    source: 'Google, Gemini API pricing: since Gemini 3 per search query, of the web or of Maps',
    checkedOn: '2026-11-28',
  },
  {
    name: 'gemini/grounding-by-prompt',
    provider: 'gemini',
    match: { regex: '^gemini-(live-)?[12]\\.' },
    rates: { web_search_requests: '0', grounded_prompts: '35', maps_requests: '25' },
    source: 'Google, Gemini API pricing: up to Gemini 2.5 per grounded prompt, however many queries it took',
    checkedOn: '2026-11-28',
  },
  createImagenCard('imagen-4.0-generate-001', '40'),
  createImagenCard('imagen-4.0-ultra-generate-001', '60'),
  createImagenCard('imagen-4.0-fast-generate-001', '20'),
  createImagenCard('imagen-3.0-generate-002', '30'),
];

const BEDROCK: readonly RateCard[] = [
  {
    name: 'bedrock/titan-embed-text-v2',
    provider: 'bedrock',
    match: { regex: '^amazon\\.titan-embed-text-v2(:0)?$' },
    rates: { input: '0.02' },
    source: 'AWS, Bedrock pricing; the catalogue gives v2 the price of v1',
    checkedOn: '2026-08-21',
  },
];

const FIREWORKS: readonly RateCard[] = [
  {
    name: 'fireworks/glm-4p7',
    provider: 'fireworks',
    match: { equals: 'accounts/fireworks/models/glm-4p7' },
    rates: { cache_read: '0.3' },
    source: 'Fireworks, serverless pricing',
    checkedOn: '2026-11-28',
  },
];

function createTogetherCard(model: string, rates: RateCard['rates']): RateCard {
  return {
    name: `together/${model}`,
    provider: 'together',
    match: { equals: model },
    rates,
    source: 'Together, serverless models, as quoted by two price lists',
    checkedOn: '2026-08-21',
  };
}

const TOGETHER: readonly RateCard[] = [
  createTogetherCard('openai/gpt-oss-120b', { input: '0.15', output: '0.6' }),
  createTogetherCard('moonshotai/Kimi-K2.6', { input: '1.2', cache_read: '0.2', output: '4.5' }),
  createTogetherCard('deepseek-ai/DeepSeek-V3.1', { input: '0.6', output: '1.7' }),
  createTogetherCard('zai-org/GLM-5.2', { input: '1.4', cache_read: '0.26', output: '4.4' }),
  createTogetherCard('BAAI/bge-base-en-v1.5', { input: '0.008' }),
];

export const OVERLAY_RATE_CARDS: readonly RateCard[] = [
  ...OPENAI_PRIORITY,
  ...OPENAI_FLEX,
  ...OPENAI_NEWER,
  ...OPENAI_MEDIA,
  ...OPENAI_PICTURES,
  ...OPENAI_TOOLS,
  ...ANTHROPIC,
  ...GEMINI,
  ...BEDROCK,
  ...BEDROCK_PLACE_CARDS,
  ...FIREWORKS,
  ...TOGETHER,
  ...DEEPSEEK_RATE_CARDS,
];
