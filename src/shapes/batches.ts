/**
 * The batch object of OpenAI's Batch API: made later, and billed once, with the sum of the usage of all its requests.
 * The files of the results are not read: their lines would count the same tokens again.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { normaliseImageUsage } from './image-usage.ts';
import { isObject, readCount, readName, readObject } from './json-reading.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { type Normalised, withContext, withLaterResult, withTerminal, withUsage } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** A batch that was stopped or ran out of time is billed for the requests that were done. */
const FINAL_STATUSES: readonly string[] = ['completed', 'expired', 'cancelled', 'failed'];

function normaliseTokens(native: JsonObject): Normalised {
  return normaliseOpenAi(native, RESPONSES_NAMES, {});
}

/** One sum for all requests: how long each of their prompts was, only a batch of one request tells. */
function withUnknownPrompts(reading: UsageReading, batch: JsonObject): UsageReading {
  const { usage } = reading;
  const isOne = readCount(readObject(batch, 'request_counts') ?? undefined, 'total') === 1;
  return usage === null || isOne ? reading : { ...reading, usage: { ...usage, hasUnknownPrompts: true } };
}

/**
 * A batch is called finished before its usage was summed up: requests were done, and the sum is still 0. Counted as it
 * is then, it would have cost nothing for good.
 */
function isSummed(batch: JsonObject, { usage }: UsageReading): boolean {
  const done = readCount(readObject(batch, 'request_counts') ?? undefined, 'completed');
  if (done === 0) return true;
  // A usage object that is not there is none that is still to be filled: older batches have none.
  return usage === null || Object.values(usage.classes).some((quantity) => quantity > 0);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  // A list of batches is no batch.
  if (!isObject(body) || readName(body, 'object') !== 'batch') return withTerminal(reading);
  const isImages = readName(body, 'endpoint')?.startsWith('/v1/images') === true;
  const summed = withUsage(reading, body['usage'], isImages ? normaliseImageUsage : normaliseTokens);
  const seen = withUnknownPrompts(summed, body);
  const isFinished = FINAL_STATUSES.includes(readName(body, 'status') ?? '');
  const isFinal = isFinished && isSummed(body, seen);
  const known = withContext(withLaterResult(seen, readName(body, 'id'), isFinal), { model: readName(body, 'model') });
  // The result of a finished batch is due, and what it used is not there yet: that is not known, and not nothing.
  return isFinished && !isFinal ? known : withTerminal(known);
}

export const batches = createWholeAnswer('batches', readJson);
