/**
 * Anthropic's message batches: the batch object, which is answered before anything was made, and its results, one line
 * for each request. Here, and only here, usage adds up: each line is an answer of its own. Memory does not grow with
 * the number of lines. Source: Anthropic's API reference, Message Batches, November 2026.
 */
import {
  addClasses,
  countPrompt,
  type JsonObject,
  type JsonValue,
  type OtherUsage,
  type UsageReading,
} from '../token-usage.ts';
import { isObject, readName, readObject } from './json-reading.ts';
import { readMessage } from './messages.ts';
import {
  areSameTerms,
  EMPTY_READING,
  termsOf,
  withContext,
  withFlag,
  withLaterResult,
  withTerminal,
} from './reading.ts';
import type { Shape } from './shape.ts';

/**
 * Where the prompts of some models begin to cost more: those of different steps are summed apart. A test compares them
 * with the price book.
 */
export const PROMPT_STEPS: readonly number[] = [100_000, 200_000];
/** Sums that are kept: by model, purpose and length of the prompt. A batch has a handful. */
const MAX_SUMS = 32;
/** Members and levels of the summed native usage. */
const MAX_MEMBERS = 32;
const MAX_DEPTH = 3;

function stepOf({ largestPrompt = 0 }: Pick<OtherUsage, 'largestPrompt'>): number {
  return PROMPT_STEPS.filter((step) => largestPrompt > step).length;
}

/** Null when there is no room for another sum. */
function addOther(sums: readonly OtherUsage[], more: OtherUsage): readonly OtherUsage[] | null {
  const at = sums.findIndex(
    (sum) =>
      sum.purpose === more.purpose &&
      sum.model === more.model &&
      areSameTerms(sum.terms, more.terms) &&
      sum.hasUnknownWrites === more.hasUnknownWrites &&
      stepOf(sum) === stepOf(more),
  );
  const before = sums[at];
  if (before === undefined) return sums.length < MAX_SUMS ? [...sums, more] : null;
  const sum: OtherUsage = {
    ...before,
    classes: addClasses(before.classes, more.classes),
    largestPrompt: Math.max(before.largestPrompt ?? 0, more.largestPrompt ?? 0),
  };
  return sums.with(at, sum);
}

/** Adds up the numbers of two usage objects under the provider's own names; what is no number is left out. */
function addNative(first: JsonObject, second: JsonObject, depth = 0): JsonObject {
  // Mutable while it is made. A computed name defines an own member, even "__proto__".
  let sum = first;
  let room = MAX_MEMBERS - Object.keys(first).length;
  for (const name of Object.keys(second)) {
    const value = second[name];
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (before === undefined) {
      if (room <= 0) continue;
      room -= 1;
    }
    if (typeof value === 'number') sum = { ...sum, [name]: (typeof before === 'number' ? before : 0) + value };
    else if (isObject(value) && depth < MAX_DEPTH)
      sum = { ...sum, [name]: addNative(isObject(before) ? before : {}, value, depth + 1) };
  }
  return sum;
}

/** A line that does not name its tier is of the batch's. */
function isOnTermsOf(reading: UsageReading, line: UsageReading): boolean {
  return areSameTerms(termsOf(reading), {
    ...termsOf(line),
    serviceTier: line.serviceTier === null || reading.serviceTier === null ? reading.serviceTier : line.serviceTier,
  });
}

/**
 * One answer of the batch. The first line's model and terms are the call's own; the sums of what was served by another
 * model or on other terms stand beside it.
 */
export function addLine(reading: UsageReading, line: UsageReading): UsageReading {
  const { usage } = line;
  // A refused line costs nothing, and in a sum it could not be told from the others.
  if (usage === null || usage.isRefused === true) return reading;
  const model = reading.model ?? line.model;
  const isOnTerms = reading.usage === null || isOnTermsOf(reading, line);
  const terms = isOnTerms ? {} : { terms: termsOf(line) };
  const own: OtherUsage = {
    purpose: 'batch',
    model: line.model,
    classes: usage.classes,
    ...terms,
    largestPrompt: countPrompt(usage.classes),
    ...(usage.hasUnknownWrites === true ? { hasUnknownWrites: true as const } : {}),
  };
  const parts = (usage.others ?? []).map((part) => ({
    ...part,
    ...terms,
    model: part.model ?? line.model,
    largestPrompt: countPrompt(part.classes),
  }));
  const isOwn = line.model === model && isOnTerms && stepOf(own) === 0 && own.hasUnknownWrites === undefined;
  const before = reading.usage;
  let others: readonly OtherUsage[] = before?.others ?? [];
  let isFull = false;
  for (const part of isOwn ? parts : [own, ...parts]) {
    const sums = addOther(others, part);
    if (sums === null) isFull = true;
    else others = sums;
  }
  const largestPrompt = Math.max(before?.largestPrompt ?? 0, isOwn ? (own.largestPrompt ?? 0) : 0);
  const sum = {
    classes: isOwn ? addClasses(before?.classes ?? {}, usage.classes) : (before?.classes ?? {}),
    reasoning:
      usage.reasoning === null
        ? (before?.reasoning ?? null)
        : Math.min((before?.reasoning ?? 0) + usage.reasoning, Number.MAX_SAFE_INTEGER),
    ...(others.length === 0 ? {} : { others }),
    largestPrompt,
    ...(isFull || usage.isIncomplete === true || before?.isIncomplete === true ? { isIncomplete: true as const } : {}),
    native: addNative(before?.native ?? {}, { [line.model ?? '']: usage.native }),
  };
  const seen = withContext({ ...reading, usage: sum }, isOnTerms ? { ...line, model } : { model });
  return isFull || line.flags.length > 0 ? withFlag(seen, 'inconsistent') : seen;
}

function readEvent(_eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  const result = readObject(data, 'result');
  if (result === null) return reading;
  const message = readName(result, 'type') === 'succeeded' ? readObject(result, 'message') : null;
  const seen = message === null ? reading : addLine(reading, readMessage(message, EMPTY_READING));
  // The lines do not say which batch they are of: the request's path does.
  return withLaterResult(seen, seen.laterResult?.id ?? null, true);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  const isBatch = isObject(body) && readName(body, 'type') === 'message_batch';
  return withTerminal(isBatch ? withLaterResult(reading, readName(body, 'id'), false) : reading);
}

export const messageBatch: Shape = {
  name: 'message-batch',
  readJson,
  mayMatter: () => true,
  readEvent,
  areLines: true,
  doneText: null,
};
