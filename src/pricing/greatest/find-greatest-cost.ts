/**
 * The greatest cost of a call, before it is forwarded: its prompt by its bytes (a token has at least one) or by what the
 * provider counted before, its answer by the stated maximum or the model's own, each at the dearest rate that the request
 * could cause. See docs/decisions/0059-what-a-call-can-cost.md.
 */

import { parseJson, readObject } from '../../formats/usage/read-json.ts';
import { createSentPictures } from '../../formats/usage/sent-pictures.ts';
import { createSentQueries } from '../../formats/usage/sent-queries.ts';
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../../formats/wire/multipart-fields.ts';
import { TOOL_CLASSES, type TokenUsage, type UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { readBillingModel } from '../billing-terms.ts';
import type { PriceBook } from '../price-book.ts';
import { type AskedRequest, readAskedRequest } from './asked-request.ts';
import { NO_TOOLS } from './asked-tools.ts';
import { type AskedTerms, DearestRates, priceAtMost, type RateOf } from './dearest-rates.ts';
import type { AskedCall, GreatestCost, NoGreatestCost, OutputLimit } from './greatest-cost.ts';
import type { KnownPrompt } from './known-prompts.ts';
import { findPictureTokens, readMedia } from './media.ts';
import { findModelLimits, type ModelLimits } from './model-limits.ts';

/** A longer stretch of text that nobody counted is taken as the whole context window. */
const MAX_READ_BYTES = 512 * 1024;
/** What providers put before and around a request's text: roles, dates, a short system prompt. */
const HIDDEN_TOKENS = 512;
/** Their introduction to the use of tools, and their own description of a tool such as `bash`. */
const HIDDEN_TOOL_TOKENS = 1_024;
const DESCRIBED_TOOL_TOKENS = 4_096;
/** Of one picture by a model that bills its tokens: `high` quality of GPT Image 1 is 6,240, larger sizes are four times that. */
const PICTURE_OUTPUT_TOKENS = 25_000;
/** Of sound at 4 kbit/s; the lowest rate in use, of Opus, is 6. */
const MS_PER_SOUND_BYTE = 2;
/** Models hear at most 17 tokens a second, and people say fewer: OpenAI bills a minute of `gpt-4o-transcribe` as about 1,000. */
const MS_PER_SOUND_TOKEN = 50;
/** The cost is the sum of as many rounded lines. */
const ROUNDING: PicoUsd = 32n;

const PLAIN: AskedTerms = { serviceTier: null, speed: null, inferenceGeo: null };

const TEXT_FAMILIES: ReadonlySet<string> = new Set([
  'chat.completions',
  'completions',
  'responses',
  'responses.compact',
  'responses.websocket',
  'decisions',
  'messages',
  'complete',
  'generateContent',
  'streamGenerateContent',
  'interactions',
  'converse',
  'converse-stream',
  'invoke',
  'invoke-with-response-stream',
]);
const EMBEDDING_FAMILIES: ReadonlySet<string> = new Set(['embeddings', 'embedContent', 'batchEmbedContents']);
const PREDICT = 'predict';
const PICTURE_FAMILIES: ReadonlySet<string> = new Set([
  'images.generations',
  'images.edits',
  'images.variations',
  PREDICT,
]);
const SOUND_FAMILIES: ReadonlySet<string> = new Set(['audio.transcriptions', 'audio.translations']);
const SPEECH = 'audio.speech';
const RERANK = 'rerank';

const DEFAULT_WRITES: readonly UsageClass[] = ['cache_creation_5m', 'cache_creation_30m'];
const LONG_WRITES: readonly UsageClass[] = ['cache_creation_1h', 'cache_creation_12h'];

interface Asked {
  readonly call: AskedCall;
  readonly body: Buffer;
  readonly model: string;
  readonly limits: ModelLimits;
  readonly rateFor: (terms: AskedTerms) => RateOf;
}

function unknown(why: NoGreatestCost): GreatestCost {
  return { kind: 'unknown', why };
}

function known(amount: PicoUsd, outputLimit: OutputLimit, promptTokens: number, outputTokens: number): GreatestCost {
  return { kind: 'known', amount, outputLimit, promptTokens, outputTokens };
}

/** The dearest of those that have a price; null where none has. */
function dearest(rateOf: RateOf, classes: readonly UsageClass[], promptTokens: number): PicoUsd | null {
  return classes.reduce<PicoUsd | null>((most, usageClass) => {
    const rate = rateOf(usageClass, promptTokens);
    return rate !== null && (most === null || rate > most) ? rate : most;
  }, null);
}

function readWindow({ prompt, output }: ModelLimits): number | null {
  return prompt ?? output;
}

interface PromptBound {
  readonly tokens: number;
  readonly classes: readonly UsageClass[];
}

/** Null where it may fill a context window that is not known. */
function boundPrompt(
  { call, body, model, limits }: Asked,
  { tools, namesStored, cacheWrites }: Pick<AskedRequest, 'tools' | 'namesStored' | 'cacheWrites'>,
  counted: KnownPrompt | null,
): PromptBound | null {
  const window = readWindow(limits);
  const from = counted?.from ?? 0;
  const to = counted?.to ?? body.length;
  const isRead = !namesStored && to - from <= MAX_READ_BYTES;
  const media = isRead ? readMedia(body.toString('latin1', from, to)) : null;
  const ofPicture = findPictureTokens(call.provider, model);
  const ofMedia =
    media === null || media.others > 0 || (media.pictures > 0 && ofPicture === null)
      ? null
      : media.pictures * (ofPicture ?? 0);
  // What was counted before has the introduction to its tools in it.
  const introduced = tools === NO_TOOLS || counted !== null ? 0 : HIDDEN_TOOL_TOKENS;
  const hidden = HIDDEN_TOKENS + introduced + (counted === null ? tools.described * DESCRIBED_TOOL_TOKENS : 0);
  const ofText =
    media === null || ofMedia === null
      ? null
      : (counted?.tokens ?? 0) + to - from - media.payloadBytes + ofMedia + hidden;
  const once = ofText === null ? window : Math.min(ofText, window ?? ofText);
  if (once === null || tools.rounds === null) return null;
  // Each round reads all that came before it, with what its tool found.
  const tokens = tools.rounds === 1 ? once : window === null ? null : window * tools.rounds;
  if (tokens === null) return null;
  const hasMedia = media === null || media.pictures + media.others > 0 || counted !== null;
  const classes: UsageClass[] = ['input', 'cache_read'];
  if (cacheWrites !== 'none' || call.provider === 'openai') classes.push(...DEFAULT_WRITES);
  if (cacheWrites === 'long') classes.push(...LONG_WRITES);
  if (hasMedia) classes.push('input_image', 'cache_read_image');
  if (media === null || media.hasSound || counted !== null)
    classes.push('input_audio', 'cache_read_audio', 'input_video');
  return { tokens, classes };
}

function priceText(asked: Asked, request: AskedRequest, counted: KnownPrompt | null): GreatestCost {
  const { limits, model } = asked;
  if (request.isOpenEnded) return unknown('no-maximum');
  const prompt = boundPrompt(asked, request, counted);
  if (prompt === null) return unknown('no-maximum');
  const rateOf = asked.rateFor(request);
  // A tier by the prompt's length is by that of one call of the model.
  const longest = Math.min(prompt.tokens, readWindow(limits) ?? prompt.tokens);
  const inputRate = dearest(rateOf, prompt.classes, longest);
  if (inputRate === null) return unknown('unpriced');
  const outputClasses: readonly UsageClass[] =
    request.wantsSound || /tts|audio/.test(model)
      ? ['output', 'output_image', 'output_audio', 'output_video']
      : ['output', 'output_image'];
  const outputRate = dearest(rateOf, outputClasses, longest);
  const outputLimit: OutputLimit = request.statedOutput === null ? 'model' : 'stated';
  const ofOne = request.statedOutput ?? limits.output ?? limits.prompt;
  // A model without a price for output has none: it embeds.
  if (outputRate !== null && ofOne === null) return unknown('no-maximum');
  const rounds = request.tools.rounds ?? 1;
  const outputTokens = outputRate === null ? 0 : (ofOne ?? 0) * request.answers * rounds + request.predictedBytes;
  const fees = priceTools(rateOf, request, rounds - 1);
  if (fees === null) return unknown('unpriced');
  const amount = priceAtMost(prompt.tokens, inputRate) + priceAtMost(outputTokens, outputRate ?? 0n) + fees + ROUNDING;
  return known(amount, outputRate === null ? 'fixed' : outputLimit, prompt.tokens, outputTokens);
}

function priceTools(rateOf: RateOf, { tools }: AskedRequest, uses: number): PicoUsd | null {
  if (uses === 0 && !tools.isGrounded) return 0n;
  const rate = dearest(rateOf, TOOL_CLASSES, 0);
  return rate === null ? null : priceAtMost(uses + (tools.isGrounded ? 1 : 0), rate);
}

function priceEmbedding(asked: Asked, counted: KnownPrompt | null): GreatestCost {
  // Many texts, each with a window of its own: their sum has none.
  const unlimited = { ...asked, limits: { prompt: null, output: null } };
  const request = {
    tools: NO_TOOLS,
    namesStored: false,
    cacheWrites: 'none',
  } as const;
  const prompt = boundPrompt(unlimited, request, counted);
  if (prompt === null) return unknown('no-maximum');
  const rate = dearest(asked.rateFor(PLAIN), prompt.classes, prompt.tokens);
  return rate === null
    ? unknown('unpriced')
    : known(priceAtMost(prompt.tokens, rate) + ROUNDING, 'fixed', prompt.tokens, 0);
}

const PICTURE_FIELDS = ['n', 'size', 'quality'] as const;
/** What Imagen makes where the request does not say. Source: Google, Imagen, `sampleCount`; November 2026. */
const DEFAULT_SAMPLES = 4;

function readSent({ call, body }: Asked): TokenUsage | null {
  if (call.endpoint.family === PREDICT) {
    const samples = readObject(parseJson(body), 'parameters')?.['sampleCount'] ?? DEFAULT_SAMPLES;
    return createSentPictures({ n: samples, size: null, quality: null });
  }
  const boundary = readBoundary(call.contentType);
  const fields = boundary === null ? null : readMultipartFields(body, boundary, PICTURE_FIELDS);
  const members = fields === null ? scanTopLevel(body, PICTURE_FIELDS).members : null;
  const [n, size, quality] = PICTURE_FIELDS.map((name) => fields?.get(name) ?? members?.get(name)?.scalar);
  return createSentPictures({ n, size, quality });
}

function pricePictures(asked: Asked, book: PriceBook): GreatestCost {
  const { call, body, limits } = asked;
  const boundary = readBoundary(call.contentType);
  const sent = readSent(asked);
  const pictures = sent?.classes.output_images;
  if (sent === null || pictures === undefined) return unknown('no-maximum');
  const rateOf = asked.rateFor(PLAIN);
  const outputRate = dearest(rateOf, ['output', 'output_image'], 0);
  if (outputRate === null) {
    const { totalCost } = book.priceCall({
      provider: call.provider,
      providerAlias: call.providerAlias,
      endpoint: call.endpoint.family,
      billed: true,
      isBilledElsewhere: false,
      requestedAtMs: call.requestedAtMs,
      model: null,
      modelRequested: asked.model,
      ...PLAIN,
      region: call.region,
      isBatch: false,
      outcome: 'ok',
      status: 200,
      errorType: null,
      usage: sent,
      usageSource: 'request',
    });
    return totalCost === null ? unknown('unpriced') : known(totalCost, 'fixed', 0, 0);
  }
  const inputRate = dearest(rateOf, ['input', 'input_image', ...DEFAULT_WRITES], 0);
  if (inputRate === null) return unknown('unpriced');
  const ofPicture = findPictureTokens(call.provider, asked.model) ?? 0;
  // An uploaded file is a picture; a form has at most one for each of its parts.
  const uploads = boundary === null ? 0 : Math.max(1, countParts(body, boundary));
  const text = boundary === null ? body.length : Math.min(body.length, limits.prompt ?? body.length);
  const promptTokens = text + uploads * ofPicture + HIDDEN_TOKENS;
  const outputTokens = pictures * PICTURE_OUTPUT_TOKENS;
  const amount = priceAtMost(promptTokens, inputRate) + priceAtMost(outputTokens, outputRate) + ROUNDING;
  return known(amount, 'fixed', promptTokens, outputTokens);
}

function countParts(body: Buffer, boundary: string): number {
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  let parts = 0;
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) parts += 1;
  return parts;
}

/** A file of sound, or a text to be spoken. */
function priceSound(asked: Asked): GreatestCost {
  const { body, call } = asked;
  const rateOf = asked.rateFor(PLAIN);
  const [byCharacter, byTime] = [rateOf('input_characters', 0), rateOf('input_audio_ms', 0)];
  const isSpeech = call.endpoint.family === SPEECH;
  if (isSpeech && byCharacter !== null)
    return known(priceAtMost(body.length, byCharacter) + ROUNDING, 'fixed', body.length, 0);
  const ms = body.length * MS_PER_SOUND_BYTE;
  const inputRate = dearest(rateOf, ['input', 'input_audio'], 0);
  const outputRate = dearest(rateOf, ['output', 'output_audio'], 0);
  if (!isSpeech && byTime !== null && outputRate === null)
    return known(priceAtMost(ms, byTime) + ROUNDING, 'fixed', 0, 0);
  if (inputRate === null || outputRate === null) return unknown('unpriced');
  // How long it takes to say a text is not in the text.
  if (isSpeech) return unknown('no-maximum');
  const heard = (ms - (ms % MS_PER_SOUND_TOKEN)) / MS_PER_SOUND_TOKEN + HIDDEN_TOKENS;
  const amount = priceAtMost(heard, inputRate) + priceAtMost(heard, outputRate) + ROUNDING;
  return known(amount, 'fixed', heard, heard);
}

/** Rerankers are billed by query or by token. */
function priceRerank(asked: Asked): GreatestCost {
  const rateOf = asked.rateFor(PLAIN);
  const byQuery = rateOf('rerank_queries', 0);
  if (byQuery === null) return priceEmbedding(asked, null);
  const sent = createSentQueries(parseJson(asked.body));
  // Where pieces of long documents may make another query, one for each document is the most.
  const queries = sent?.classes.rerank_queries;
  if (queries === undefined || sent?.isIncomplete === true) return unknown('no-maximum');
  return known(priceAtMost(queries, byQuery) + ROUNDING, 'fixed', 0, 0);
}

export type FindGreatestCost = (call: AskedCall, counted: KnownPrompt | null) => GreatestCost;

export function createFindGreatestCost(book: PriceBook): FindGreatestCost {
  const rates = new DearestRates(book);

  function readAsked(call: AskedCall, body: Buffer, model: string): Asked {
    const { provider, providerAlias, region, requestedAtMs } = call;
    const found = book.findPrices({ provider, providerAlias, atMs: requestedAtMs }, model);
    const names = [model, found.billingModel, ...(found.rename === null ? [] : [found.rename.model])];
    const limits = names.map((name) => findModelLimits(provider, name));
    const rateFor = ({ serviceTier, speed, inferenceGeo }: AskedTerms): RateOf =>
      rates.find({
        provider,
        providerAlias,
        endpoint: call.endpoint.family,
        region,
        requestedAtMs,
        model,
        asked: { serviceTier, speed, inferenceGeo },
      });
    return { call, body, model, limits: joinLimits(limits), rateFor };
  }

  return (call, counted) => {
    const { endpoint, body } = call;
    if (!endpoint.billed) return known(0n, 'fixed', 0, 0);
    if (endpoint.isBatch) return unknown('billed-later');
    const { family } = endpoint;
    const isText = TEXT_FAMILIES.has(family);
    const isEmbedding = EMBEDDING_FAMILIES.has(family);
    const isPicture = PICTURE_FAMILIES.has(family);
    const isSound = family === SPEECH || SOUND_FAMILIES.has(family);
    const isRerank = family === RERANK || endpoint.countsRequest === 'queries';
    if (!isText && !isEmbedding && !isPicture && !isSound && !isRerank) return unknown('no-maximum');
    if (body === 'unread') return unknown('unread-body');
    const model = readBillingModel({ provider: call.provider, model: null, modelRequested: call.modelRequested });
    // Without a body or a model the provider refuses it.
    if (body === 'none' || model === null) return unknown('unread-body');
    const asked = readAsked(call, body, model);
    if (isRerank) return priceRerank(asked);
    if (isEmbedding) return priceEmbedding(asked, counted);
    if (isPicture) return pricePictures(asked, book);
    if (isSound) return priceSound(asked);
    const request = readAskedRequest(body, model);
    return request === null ? unknown('unread-body') : priceText(asked, request, counted);
  };
}

function joinLimits(all: readonly ModelLimits[]): ModelLimits {
  const most = (values: readonly (number | null)[]): number | null => {
    const found = values.filter((value) => value !== null);
    return found.length === 0 ? null : Math.max(...found);
  };
  return { prompt: most(all.map(({ prompt }) => prompt)), output: most(all.map(({ output }) => output)) };
}
