/**
 * The greatest cost of a call, before it is forwarded: its prompt by its bytes (a token has at least one) or by what the
 * provider counted before, its answer by the stated maximum or the model's own, each at the dearest rate that the request
 * could cause. See docs/decisions/0059-what-a-call-can-cost.md.
 */

import { MAX_MODEL_LENGTH, readBillingModel } from '../billing-terms.ts';
import type { PriceBook } from '../price-book.ts';
import { minuteOf } from '../price-row.ts';
import { EMBEDDING_ENDPOINTS, TEXT_ENDPOINTS } from '../text-endpoints.ts';
import { readAskedRequest } from './asked-request.ts';
import { boundEmbedding, boundRerank } from './bound-inputs.ts';
import { boundPictures, PREDICT } from './bound-pictures.ts';
import { boundSound, SPEECH } from './bound-sound.ts';
import { boundText } from './bound-text.ts';
import { type BoundedCall, known, unknown } from './bounded-call.ts';
import { createDearestRates } from './dearest-rates.ts';
import type { AskedCall, GreatestCost } from './greatest-cost.ts';
import type { KnownPrompt } from './known-prompts.ts';
import { findModelLimits, type ModelLimits } from './model-limits.ts';

/** Each turn of a websocket is asked about by itself. */
const TEXT_FAMILIES: ReadonlySet<string> = new Set([...TEXT_ENDPOINTS, 'responses.websocket']);
const EMBEDDING_FAMILIES: ReadonlySet<string> = new Set(EMBEDDING_ENDPOINTS);
const PICTURE_FAMILIES: ReadonlySet<string> = new Set([
  'images.generations',
  'images.edits',
  'images.variations',
  PREDICT,
]);
const SOUND_FAMILIES: ReadonlySet<string> = new Set(['audio.transcriptions', 'audio.translations']);
const RERANK = 'rerank';
/** A bound, since clients can invent names. */
const MAX_KEPT_MODELS = 2_000;

/** `counted`: of an earlier request with much the same bytes. */
export type FindGreatestCost = (call: AskedCall, counted: KnownPrompt | null) => GreatestCost;

/** `tokensOf`: all that the provider counted up to the end of an earlier answer, by its id. */
export function createFindGreatestCost(
  book: PriceBook,
  tokensOf: (answerId: string) => number | null = () => null,
): FindGreatestCost {
  const models = new Map<string, KnownModel>();

  function readModel(call: AskedCall, model: string): KnownModel {
    const { provider, providerAlias, region, requestedAtMs, endpoint } = call;
    if (!book.isMinuteSteady(requestedAtMs)) return describeModel(book, call, model);
    const key = `${minuteOf(requestedAtMs)}\n${provider}\n${providerAlias ?? ''}\n${endpoint.family}\n${region ?? ''}\n${model}`;
    const known = models.get(key);
    if (known !== undefined) return known;
    const made = describeModel(book, call, model);
    if (models.size >= MAX_KEPT_MODELS) models.clear();
    models.set(key, made);
    return made;
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
    if (!isText && !isEmbedding && !isPicture && !isSound && !isRerank) return unknown('no-bound');
    if (body === 'unread') return unknown('unread-body');
    const model = readBillingModel({ provider: call.provider, model: null, modelRequested: call.modelRequested });
    // Without a body or a model the provider refuses it.
    if (body === 'none' || model === null) return unknown('unread-body');
    // No price is for a longer name, and what is found is kept by name.
    if (model.length > MAX_MODEL_LENGTH) return unknown('unpriced');
    const asked: BoundedCall = { call, body, model, ...readModel(call, model) };
    if (isRerank) return boundRerank(asked);
    if (isEmbedding) return boundEmbedding(asked);
    if (isPicture) return boundPictures(asked, book);
    if (isSound) return boundSound(asked);
    const request = readAskedRequest(body, model, call.scan);
    if (request === null) return unknown('unread-body');
    const { previousAnswer } = request;
    if (previousAnswer === null) return boundText(asked, request, counted);
    const tokens = tokensOf(previousAnswer);
    const isKept = { ...request, namesStored: request.namesStored || tokens === null };
    return boundText(asked, isKept, { tokens: tokens ?? 0, from: 0, to: body.length });
  };
}

/** What is the same for all calls to a model in a minute. */
type KnownModel = Pick<BoundedCall, 'limits' | 'rateFor'>;

function describeModel(book: PriceBook, call: AskedCall, model: string): KnownModel {
  const { provider, providerAlias, region, requestedAtMs, endpoint } = call;
  const found = book.findPrices({ provider, providerAlias, atMs: requestedAtMs }, model);
  const names = [model, found.billingModel, ...(found.rename === null ? [] : [found.rename.model])];
  return {
    limits: joinLimits(names.map((name) => findModelLimits(provider, name))),
    rateFor: createDearestRates(book, {
      provider,
      providerAlias,
      endpoint: endpoint.family,
      region,
      requestedAtMs,
      model,
    }),
  };
}

function joinLimits(all: readonly ModelLimits[]): ModelLimits {
  const most = (values: readonly (number | null)[]): number | null => {
    const found = values.filter((value) => value !== null);
    return found.length === 0 ? null : Math.max(...found);
  };
  return { prompt: most(all.map(({ prompt }) => prompt)), output: most(all.map(({ output }) => output)) };
}
