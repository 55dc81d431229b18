/**
 * The greatest cost of a call, before it is forwarded: its prompt by its bytes (a token has at least one) or by what the
 * provider counted before, its answer by the stated maximum or the model's own, each at the dearest rate that the request
 * could cause. See docs/decisions/0059-what-a-call-can-cost.md.
 */

import type { ProviderName } from '../../vocabulary/call-record.ts';
import { MAX_MODEL_LENGTH, readBillingModel } from '../billing-terms.ts';
import type { PriceBook } from '../price-book.ts';
import { EMBEDDING_ENDPOINTS, TEXT_ENDPOINTS } from '../text-endpoints.ts';
import { readAskedRequest } from './asked-request.ts';
import { boundEmbedding, boundRerank } from './bound-inputs.ts';
import { boundPictures, PREDICT } from './bound-pictures.ts';
import { boundSound, SPEECH } from './bound-sound.ts';
import { boundText } from './bound-text.ts';
import { type BoundedCall, known, unknown } from './bounded-call.ts';
import { type AskedTerms, DearestRates, type RateOf } from './dearest-rates.ts';
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
const MAX_KEPT_LIMITS = 2_000;

/** `counted`: of an earlier request with much the same bytes. */
export type FindGreatestCost = (call: AskedCall, counted: KnownPrompt | null) => GreatestCost;

/** `tokensOf`: all that the provider counted up to the end of an earlier answer, by its id. */
export function createFindGreatestCost(
  book: PriceBook,
  tokensOf: (answerId: string) => number | null = () => null,
): FindGreatestCost {
  const rates = new DearestRates(book);
  const limitsOf = new Map<string, ModelLimits>();

  function findLimits(provider: ProviderName, names: readonly string[]): ModelLimits {
    const key = `${provider}\n${names.join('\n')}`;
    const known = limitsOf.get(key);
    if (known !== undefined) return known;
    const limits = joinLimits(names.map((name) => findModelLimits(provider, name)));
    if (limitsOf.size >= MAX_KEPT_LIMITS) limitsOf.clear();
    limitsOf.set(key, limits);
    return limits;
  }

  function readCall(call: AskedCall, body: Buffer, model: string): BoundedCall {
    const { provider, providerAlias, region, requestedAtMs } = call;
    const found = book.findPrices({ provider, providerAlias, atMs: requestedAtMs }, model);
    const names = [model, found.billingModel, ...(found.rename === null ? [] : [found.rename.model])];
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
    return { call, body, model, limits: findLimits(provider, names), rateFor };
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
    // No price is for a longer name, and what is found is kept by name.
    if (model.length > MAX_MODEL_LENGTH) return unknown('unpriced');
    const asked = readCall(call, body, model);
    if (isRerank) return boundRerank(asked);
    if (isEmbedding) return boundEmbedding(asked);
    if (isPicture) return boundPictures(asked, book);
    if (isSound) return boundSound(asked);
    const request = readAskedRequest(body, model);
    if (request === null) return unknown('unread-body');
    const { previousAnswer } = request;
    if (previousAnswer === null) return boundText(asked, request, counted);
    const tokens = tokensOf(previousAnswer);
    const isKept = { ...request, namesStored: request.namesStored || tokens === null };
    return boundText(asked, isKept, { tokens: tokens ?? 0, from: 0, to: body.length });
  };
}

function joinLimits(all: readonly ModelLimits[]): ModelLimits {
  const most = (values: readonly (number | null)[]): number | null => {
    const found = values.filter((value) => value !== null);
    return found.length === 0 ? null : Math.max(...found);
  };
  return { prompt: most(all.map(({ prompt }) => prompt)), output: most(all.map(({ output }) => output)) };
}
