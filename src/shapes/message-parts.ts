/**
 * The parts that one of Anthropic's answers was made of, from its usage object: turns of the model that served, attempts
 * that were declined before it (server-side fallback), compactions and advisors. Source: Anthropic, "Refusals and
 * fallback", "Fallback credit", API reference (`BetaUsage`), November 2026.
 */
import type { JsonObject, JsonValue, OtherUsage } from '../token-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { createDraft, type Draft } from './reading.ts';

interface Counts {
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly write5m: number | null;
  readonly write1h: number | null;
  readonly output: number | null;
}

const LIFETIMES: readonly string[] = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'];

/** Cache writes by lifetime; without the split they are of the default, five minutes. */
function readCounts(usage: JsonObject, draft: Draft): Counts {
  const split = readObject(usage, 'cache_creation') ?? undefined;
  const fiveMinutes = readCount(split, 'ephemeral_5m_input_tokens');
  const oneHour = readCount(split, 'ephemeral_1h_input_tokens');
  const written = readCount(usage, 'cache_creation_input_tokens');
  const isSplit = fiveMinutes !== null || oneHour !== null;
  // Of a lifetime that is not known nobody knows the price.
  const isOfOther = Object.keys(split ?? {}).some((name) => !LIFETIMES.includes(name) && readCount(split, name));
  if (isOfOther) draft.doubt();
  const splitSum = (fiveMinutes ?? 0) + (oneHour ?? 0);
  if (isSplit && written !== null && splitSum !== written) draft.remark();
  // Where the sum is larger than the split, the rest is of the default lifetime.
  const rest = isSplit && !isOfOther && written !== null ? Math.max(0, written - splitSum) : 0;
  return {
    input: readCount(usage, 'input_tokens'),
    cacheRead: readCount(usage, 'cache_read_input_tokens'),
    write5m: isSplit || isOfOther ? (fiveMinutes ?? 0) + rest : written,
    write1h: oneHour,
    output: readCount(usage, 'output_tokens'),
  };
}

/** What one prompt used, in its own draft. */
export function draftCounts(usage: JsonObject): Draft {
  const draft = createDraft();
  const counts = readCounts(usage, draft);
  draft.set('input', counts.input);
  draft.set('cache_read', counts.cacheRead);
  draft.set('cache_creation_5m', counts.write5m);
  draft.set('cache_creation_1h', counts.write1h);
  draft.set('output', counts.output);
  return draft;
}

export interface Parts {
  readonly others: readonly OtherUsage[];
  readonly consistent: boolean;
  readonly isIncomplete: boolean;
  /** Another model than the one that was asked served: what it wrote to the cache may be billed as read. */
  readonly isFallback: boolean;
  /** Of a fallback: what its turns used, for totals that the answer leaves out. */
  readonly served: JsonObject;
}

/** In the totals, as far as they are of the model that served. */
const TURN_TYPES: readonly string[] = ['message', 'fallback_message'];
/** Apart from the totals. */
const OTHER_TYPES: readonly string[] = ['compaction', 'advisor_message'];
/** What an attempt worked as that wrote, and was then declined. */
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

/**
 * Compactions (same model, a prompt of their own), advisors (another model) and declined attempts are not in the totals;
 * the turns of the model that served are, and must add up to them.
 */
function readIterations(native: JsonObject, entries: readonly JsonObject[]): Parts {
  const turns = entries.filter((entry) => TURN_TYPES.includes(typeOf(entry)));
  // Of several hops the last one served.
  const fallback = turns.findLast((entry) => typeOf(entry) === 'fallback_message');
  const serving = readName(fallback, 'model');
  const isOther = (turn: JsonObject) => serving !== null && (readName(turn, 'model') ?? serving) !== serving;
  // An attempt of the same model that was declined before another one was tried is not what served.
  const served = turns.slice(turns.findLastIndex(isOther) + 1);
  const asked = readName(turns[0], 'model');
  const others: OtherUsage[] = [];
  let consistent = true;
  let isOpen = false;
  for (const entry of entries) {
    const type = typeOf(entry);
    // Declined before its first token, an attempt costs nothing; after it, what it would have cost by itself.
    const isDeclined = TURN_TYPES.includes(type) && !served.includes(entry) && hasOutput(entry);
    if (!isDeclined && !OTHER_TYPES.includes(type)) continue;
    const part = draftCounts(entry).done(null);
    if (!part.consistent) consistent = false;
    if (part.isIncomplete === true) isOpen = true;
    const model = type === 'compaction' ? null : readName(entry, 'model');
    const purpose = isDeclined ? DECLINED : type === 'compaction' ? type : 'advisor';
    // The first attempt had nobody's cache to take over.
    const isCredited = isDeclined && model !== asked;
    others.push({ purpose, model, classes: part.classes, ...(isCredited ? { hasUnknownWrites: true } : {}) });
  }
  // Of a part of another kind nobody knows whether the totals have it.
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

/**
 * Our own member of the usage object, for answers that do not list their attempts: those that the blocks of the content
 * tell of, with what was reported for them before the next one began.
 */
const ATTEMPTS = 'declined_attempts';

/** What the content alone tells: an attempt that wrote costs what it used, which was never reported whole. */
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

/** Who served by the list of attempts, whatever the answer was opened as; null where no other model took over. */
export function readServing(usage: JsonObject | undefined): string | null {
  const entries = usage === undefined ? [] : readArray(usage, 'iterations').filter(isObject);
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
    // Who serves reads the prompt anew; an answer that leaves out how long it was does not tell what it cost.
    isIncomplete: parts.isIncomplete || isIncomplete || readCount(native, 'input_tokens') === null,
    isFallback: true,
  };
}

export function isFallbackBlock(block: JsonValue): boolean {
  return readName(block, 'type') === 'fallback';
}

/** Of a whole answer: who wrote before the last block at which the model changed. */
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
  /** What was reported so far is its own; false where the opening already named the model that serves. */
  readonly isReported: boolean;
  /** Of the block at which the model changes. */
  readonly index: number | null;
}

/** Of a stream: the usage object as it stands for the next attempt, which has reported nothing yet. */
export function leaveAttempt(native: JsonObject, { from, isReported, index }: LeftAttempt): JsonObject {
  const { [ATTEMPTS]: _, iterations: __, output_tokens: ___, ...reported } = native;
  const attempts = readArray(native, ATTEMPTS).filter(isObject);
  // Between two such blocks there is a block of content, where there was any.
  const last = attempts.reduce((highest, attempt) => Math.max(highest, readCount(attempt, 'block') ?? -1), -1);
  const wrote = index === null || index > last + 1;
  const left: JsonObject = { ...(isReported ? reported : {}), model: from, wrote, block: index };
  return { ...(isReported ? {} : reported), [ATTEMPTS]: [...attempts, left] };
}
