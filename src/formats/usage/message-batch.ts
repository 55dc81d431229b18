/**
 * Anthropic's message batches: the batch object, and its results, one line per request. Lines are separate answers, so
 * usage adds up here; memory does not grow with their number. Source: Anthropic's API reference, Message Batches,
 * November 2026.
 */
import {
  addClasses,
  countPrompt,
  type JsonObject,
  type JsonValue,
  type OtherUsage,
  type ReportedUsage,
} from '../../vocabulary/token-usage.ts';
import { readMessage } from './messages.ts';
import { isObject, readName, readObject } from './read-json.ts';
import {
  areSameTerms,
  NOTHING_REPORTED,
  termsOf,
  withContext,
  withFlag,
  withLaterResult,
  withMissingUsage,
  withTerminal,
} from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

/** Prompts above each step may cost more, so they are summed apart. A test compares the steps with the price book. */
export const PROMPT_STEPS: readonly number[] = [100_000, 200_000];
/** A bound on sums by model, purpose and prompt length. */
const MAX_SUMS = 32;
/** A bound on the members and levels of the summed native usage. */
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

/** Adds the numbers of two usage objects under the provider's own names. */
function addNative(first: JsonObject, second: JsonObject, depth = 0): JsonObject {
  // Mutable while it is built. A computed name defines an own member, even "__proto__".
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

/** A line without a tier has the batch's. */
function isOnTermsOf(reported: ReportedUsage, line: ReportedUsage): boolean {
  return areSameTerms(termsOf(reported), {
    ...termsOf(line),
    serviceTier: line.serviceTier === null || reported.serviceTier === null ? reported.serviceTier : line.serviceTier,
  });
}

/** Adds one answer. The first line sets the call's model and terms; other models and terms are summed beside it. */
export function addLine(reported: ReportedUsage, line: ReportedUsage): ReportedUsage {
  const { usage } = line;
  // A refused line costs nothing, and would be lost in a sum.
  if (usage === null || usage.isRefused === true) return reported;
  const model = reported.model ?? line.model;
  const isOnTerms = reported.usage === null || isOnTermsOf(reported, line);
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
  const before = reported.usage;
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
  const seen = withContext({ ...reported, usage: sum }, isOnTerms ? { ...line, model } : { model });
  return isFull || line.flags.length > 0 ? withFlag(seen, 'inconsistent') : seen;
}

function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  const result = readObject(data, 'result');
  if (result === null) return reported;
  const message = readName(result, 'type') === 'succeeded' ? readObject(result, 'message') : null;
  const line = message === null ? null : readMessage(message, NOTHING_REPORTED);
  const seen = line === null ? reported : addLine(reported, line);
  // The lines do not name their batch; the request's path does.
  const known = withLaterResult(seen, seen.laterResult?.id ?? null, true);
  return line !== null && line.usage === null ? withMissingUsage(known) : known;
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  const isBatch = isObject(body) && readName(body, 'type') === 'message_batch';
  return withTerminal(isBatch ? withLaterResult(reported, readName(body, 'id'), false) : reported);
}

export const messageBatch: UsageFormat = {
  name: 'message-batch',
  readJson,
  mayMatter: () => true,
  readEvent,
  areLines: true,
  doneText: null,
};
