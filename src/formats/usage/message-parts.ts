/**
 * The parts of one Anthropic answer: turns of the serving model, declined attempts before it, compactions and advisors.
 * Source: Anthropic, "Refusals and fallback", "Fallback credit", API reference (`BetaUsage`), November 2026.
 */
import type { JsonObject, JsonValue, OtherUsage } from '../../vocabulary/token-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import { createDraft, type Draft } from './reported-usage.ts';

interface Counts {
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly write5m: number | null;
  readonly write1h: number | null;
  readonly output: number | null;
}

const LIFETIMES: readonly string[] = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'];

/** Cache writes by lifetime; without a split they have the default, five minutes. */
function readCounts(usage: JsonObject, draft: Draft): Counts {
  const split = readObject(usage, 'cache_creation');
  const fiveMinutes = readCount(split, 'ephemeral_5m_input_tokens');
  const oneHour = readCount(split, 'ephemeral_1h_input_tokens');
  const written = readCount(usage, 'cache_creation_input_tokens');
  const isSplit = fiveMinutes !== null || oneHour !== null;
  // An unknown lifetime has no known price.
  const isOfOther = Object.keys(split ?? {}).some((name) => !LIFETIMES.includes(name) && readCount(split, name));
  if (isOfOther) draft.doubt();
  const splitSum = (fiveMinutes ?? 0) + (oneHour ?? 0);
  if (isSplit && written !== null && splitSum !== written) draft.remark();
  // What the split leaves of the sum has the default lifetime.
  const rest = isSplit && !isOfOther && written !== null ? Math.max(0, written - splitSum) : 0;
  return {
    input: readCount(usage, 'input_tokens'),
    cacheRead: readCount(usage, 'cache_read_input_tokens'),
    write5m: isSplit || isOfOther ? (fiveMinutes ?? 0) + rest : written,
    write1h: oneHour,
    output: readCount(usage, 'output_tokens'),
  };
}

export function draftCounts(usage: JsonObject): Draft {
  const draft = createDraft();
  const counts = readCounts(usage, draft);
  draft.set('input', counts.input);
  draft.set('cache_read', counts.cacheRead);
  draft.set('cache_creation_5m', counts.write5m);
  draft.set('cache_creation_1h', counts.write1h);
  draft.set('output', counts.output);
  draft.expectBoth(counts.input, counts.output);
  return draft;
}

export interface Parts {
  readonly others: readonly OtherUsage[];
  readonly consistent: boolean;
  readonly isIncomplete: boolean;
  /** Another model served than was asked for: its cache writes may be billed as reads. */
  readonly isFallback: boolean;
  /** The usage of a fallback's turns, for totals that the answer leaves out. */
  readonly served: JsonObject;
}

/** In the totals when they belong to the serving model. */
const TURN_TYPES: readonly string[] = ['message', 'fallback_message'];
/** Outside the totals. */
const OTHER_TYPES: readonly string[] = ['compaction', 'advisor_message'];
/** The purpose of an attempt that wrote and was then declined. */
const DECLINED = 'declined';

const TOTALS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
] as const satisfies readonly string[];

function typeOf(entry: JsonObject): string {
  return readName(entry, 'type') ?? '';
}

function hasOutput(entry: JsonObject): boolean {
  return (readCount(entry, 'output_tokens') ?? 0) > 0;
}

/** Compactions, advisors and declined attempts are outside the totals; serving turns must add up to them. */
function readIterations(native: JsonObject, entries: readonly JsonObject[]): Parts {
  const turns = entries.filter((entry) => TURN_TYPES.includes(typeOf(entry)));
  // The last hop served.
  const fallback = turns.findLast((entry) => typeOf(entry) === 'fallback_message');
  const serving = readName(fallback, 'model');
  const isOther = (turn: JsonObject) => serving !== null && (readName(turn, 'model') ?? serving) !== serving;
  // An earlier declined attempt of that model did not serve.
  const served = turns.slice(turns.findLastIndex(isOther) + 1);
  const asked = readName(turns[0], 'model');
  const others: OtherUsage[] = [];
  let consistent = true;
  let isOpen = false;
  for (const entry of entries) {
    const type = typeOf(entry);
    // An attempt declined before its first token costs nothing, otherwise its full price.
    const isDeclined = TURN_TYPES.includes(type) && !served.includes(entry) && hasOutput(entry);
    if (!isDeclined && !OTHER_TYPES.includes(type)) continue;
    const part = draftCounts(entry).done(null);
    if (!part.consistent) consistent = false;
    if (part.isIncomplete === true) isOpen = true;
    const model = type === 'compaction' ? null : readName(entry, 'model');
    const purpose = isDeclined ? DECLINED : type === 'compaction' ? type : 'advisor';
    // The first attempt had no cache to take over.
    const isCredited = isDeclined && model !== asked;
    others.push({ purpose, model, classes: part.classes, ...(isCredited ? { hasUnknownWrites: true } : {}) });
  }
  // The totals may or may not include a part of an unknown kind.
  const known = [...TURN_TYPES, ...OTHER_TYPES];
  const isIncomplete = entries.some(
    (entry) => !known.includes(typeOf(entry)) && TOTALS.some((name) => (readCount(entry, name) ?? 0) > 0),
  );
  const sums = TOTALS.map(
    (name) => [name, served.reduce((sum, turn) => sum + (readCount(turn, name) ?? 0), 0)] as const,
  );
  const addsUp = sums.every(([name, sum]) => [null, sum].includes(readCount(native, name)));
  return {
    others,
    consistent: consistent && !isIncomplete && (served.length === 0 || addsUp),
    isIncomplete: isIncomplete || isOpen,
    isFallback: fallback !== undefined,
    served: fallback === undefined ? {} : Object.fromEntries(sums.filter(([, sum]) => sum > 0)),
  };
}

/** Our own member of the usage object: attempts known only from content blocks, with what each had reported. */
const ATTEMPTS = 'declined_attempts';

/** An attempt that wrote has a cost that was never reported whole. */
function readAttempts(attempts: readonly JsonObject[]): Pick<Parts, 'others' | 'isIncomplete'> {
  const wrote = attempts.filter((attempt) => attempt['wrote'] === true);
  const others = wrote.flatMap((attempt, index): OtherUsage[] => {
    const { classes } = draftCounts(attempt).done(null);
    if (Object.keys(classes).length === 0) return [];
    const credit = index === 0 ? {} : ({ hasUnknownWrites: true } as const);
    return [{ purpose: DECLINED, model: readName(attempt, 'model'), classes, ...credit }];
  });
  return { others, isIncomplete: wrote.length > 0 };
}

/** The serving model by the list of attempts; null when no other model took over. */
export function readServing(usage: JsonObject | null): string | null {
  const entries = readArray(usage, 'iterations').filter(isObject);
  return readName(
    entries.findLast((entry) => typeOf(entry) === 'fallback_message'),
    'model',
  );
}

export function readParts(native: JsonObject): Parts {
  const parts = readIterations(native, readArray(native, 'iterations').filter(isObject));
  const attempts = readArray(native, ATTEMPTS).filter(isObject);
  if (parts.isFallback || attempts.length === 0) return parts;
  const { others, isIncomplete } = readAttempts(attempts);
  return {
    ...parts,
    others: [...others, ...parts.others],
    // The serving model reads the prompt anew; its cost is unknown without the prompt's length.
    isIncomplete: parts.isIncomplete || isIncomplete || readCount(native, 'input_tokens') === null,
    isFallback: true,
  };
}

export function isFallbackBlock(block: JsonValue): boolean {
  return readName(block, 'type') === 'fallback';
}

/** Notes which model wrote before the last change of model in a whole answer. */
export function noteAttempts(usage: JsonObject, content: readonly JsonValue[]): JsonObject {
  if (readParts(usage).isFallback) return usage;
  const attempts = content.flatMap((block, index): JsonObject[] => {
    if (!isFallbackBlock(block) || !isObject(block)) return [];
    const before = content[index - 1];
    const from = block['from'];
    return [
      {
        model: readName(isObject(from) ? from : undefined, 'model'),
        wrote: before !== undefined && !isFallbackBlock(before),
      },
    ];
  });
  return attempts.length === 0 ? usage : { ...usage, [ATTEMPTS]: attempts };
}

export interface LeftAttempt {
  readonly from: string | null;
  /** True when the usage so far is this attempt's; false when the opening already named the serving model. */
  readonly isReported: boolean;
  /** The block at which the model changes. */
  readonly index: number | null;
}

/** Returns a stream's usage object for the next attempt, which has reported nothing yet. */
export function leaveAttempt(native: JsonObject, { from, isReported, index }: LeftAttempt): JsonObject {
  const { [ATTEMPTS]: _, iterations: __, output_tokens: ___, ...reported } = native;
  const attempts = readArray(native, ATTEMPTS).filter(isObject);
  // Block indices show whether there was content between two model changes.
  const last = attempts.reduce((highest, attempt) => Math.max(highest, readCount(attempt, 'block') ?? -1), -1);
  const wrote = index === null || index > last + 1;
  const left: JsonObject = { ...(isReported ? reported : {}), model: from, wrote, block: index };
  return { ...(isReported ? {} : reported), [ATTEMPTS]: [...attempts, left] };
}
