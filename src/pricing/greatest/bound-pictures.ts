/** The greatest cost of pictures: by the picture, or by their tokens. */
import { parseJson, readObject } from '../../formats/usage/read-json.ts';
import { createSentPictures } from '../../formats/usage/sent-pictures.ts';
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../../formats/wire/multipart-fields.ts';
import type { TokenUsage } from '../../vocabulary/token-usage.ts';
import type { PriceBook } from '../price-book.ts';
import {
  type BoundedCall,
  DEFAULT_WRITES,
  dearest,
  HIDDEN_TOKENS,
  known,
  PLAIN,
  ROUNDING,
  unknown,
} from './bounded-call.ts';
import { priceAtMost } from './dearest-rates.ts';
import type { GreatestCost } from './greatest-cost.ts';
import { findPictureTokens } from './media.ts';

/** Google's. */
export const PREDICT = 'predict';
/** Of one picture by a model that bills its tokens: `high` quality of GPT Image 1 is 6,240, larger sizes are four times that. */
const PICTURE_OUTPUT_TOKENS = 25_000;
const PICTURE_FIELDS = ['n', 'size', 'quality'] as const;
/** What Imagen makes where the request does not say. Source: Google, Imagen, `sampleCount`; November 2026. */
const DEFAULT_SAMPLES = 4;

function readSent({ call, body }: BoundedCall): TokenUsage | null {
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

export function boundPictures(asked: BoundedCall, book: PriceBook): GreatestCost {
  const { call, body, limits } = asked;
  const boundary = readBoundary(call.contentType);
  const sent = readSent(asked);
  const pictures = sent?.classes.output_images;
  if (sent === null || pictures === undefined) return unknown('unknown-length');
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
