/**
 * OpenAI's batch object, billed once with its summed usage. Result files are not read, since they would count twice.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { normaliseImageUsage } from './image-usage.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { isObject, readCount, readName, readObject } from './read-json.ts';
import {
  type Normalised,
  tellsOfWork,
  withContext,
  withLaterResult,
  withMissingUsage,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** A stopped or expired batch is billed for the requests that were done. */
const FINAL_STATUSES: readonly string[] = ['completed', 'expired', 'cancelled', 'failed'];

function normaliseTokens(native: JsonObject): Normalised {
  return normaliseOpenAi(native, RESPONSES_NAMES, {});
}

/** The sum tells the length of a prompt only in a batch of one request. */
function withUnknownPrompts(reported: ReportedUsage, batch: JsonObject): ReportedUsage {
  const { usage } = reported;
  const isOne = readCount(readObject(batch, 'request_counts'), 'total') === 1;
  return usage === null || isOne ? reported : { ...reported, usage: { ...usage, hasUnknownPrompts: true } };
}

/** A batch may be called completed before its usage is summed: requests are done while the sum is still 0. */
function isSummed(batch: JsonObject, { usage }: ReportedUsage): boolean {
  const done = readCount(readObject(batch, 'request_counts'), 'completed');
  if (done === 0) return true;
  if (usage !== null) return Object.values(usage.classes).some((quantity) => quantity > 0);
  // Older batches have no usage object at all, and will not get one.
  return done === null && !tellsOfWork(readName(batch, 'status') ?? '');
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body) || readName(body, 'object') !== 'batch') return withTerminal(reported);
  const isImages = readName(body, 'endpoint')?.startsWith('/v1/images') === true;
  const summed = withUsage(reported, body['usage'], isImages ? normaliseImageUsage : normaliseTokens);
  const seen = withUnknownPrompts(summed, body);
  const isFinished = FINAL_STATUSES.includes(readName(body, 'status') ?? '');
  const isFinal = isFinished && isSummed(body, seen);
  const known = withContext(withLaterResult(seen, readName(body, 'id'), isFinal), { model: readName(body, 'model') });
  return withTerminal(isFinished && !isFinal ? withMissingUsage(known) : known);
}

export const batches = createWholeAnswer('batches', readJson);
