/**
 * Adds the usage of one turn to that of a session. Turns of the session's own model are summed; what another model did
 * within the session stands apart, summed by its purpose and model.
 */
import {
  addClasses,
  type ClassQuantities,
  countPrompt,
  type JsonObject,
  type JsonValue,
  type OtherUsage,
  type ServedTerms,
  type TokenUsage,
} from '../token-usage.ts';
import { isObject, readName } from './json-reading.ts';
import { areSameTerms } from './reading.ts';

/**
 * Prompts of several turns are summed up to this, where a model's rates rise with the length of the prompt: below the
 * first step of every such model, so that a sum is never rated as the one long prompt that it was not.
 */
const MAX_SUMMED_PROMPT = 200_000;
/** Kept apart in one session; what comes then is added to the last one of its kind. */
const MAX_OTHERS = 256;
/** Of a further group of turns of the session's own model. */
const TURNS = 'turns';

export interface Turn {
  /** Null: the session's own work. Else what another model worked as, e.g. `transcription`. */
  readonly purpose: string | null;
  /** Null: the session's own model. */
  readonly model: string | null;
  /** Where they are not the session's. */
  readonly terms?: ServedTerms;
  readonly usage: TokenUsage;
  /** True where rates rise with the length of the prompt. */
  readonly isTiered: boolean;
}

export function addTurn(session: TokenUsage | null, turn: Turn): TokenUsage {
  const before = session ?? { classes: {}, reasoning: null, native: {} };
  const { purpose, model, terms, usage } = turn;
  const isOwn = purpose === null && model === null && terms === undefined;
  const hasRoom = isOwn && fits(before.classes, usage.classes, turn.isTiered);
  const others = addOthers(before.others ?? [], turn, hasRoom);
  const isIncomplete = others === null || before.isIncomplete === true || usage.isIncomplete === true;
  const kept = others ?? before.others ?? [];
  return {
    classes: hasRoom ? addClasses(before.classes, usage.classes) : before.classes,
    reasoning: isOwn ? addCounts(before.reasoning, usage.reasoning) : before.reasoning,
    ...(kept.length === 0 ? {} : { others: kept }),
    ...(isIncomplete ? { isIncomplete } : {}),
    native:
      purpose === null
        ? sumNative(before.native, usage.native)
        : { ...before.native, [purpose]: sumNative(readMember(before.native, purpose), usage.native) },
  };
}

/** Null when there is no room for one of them. */
function addOthers(before: readonly OtherUsage[], turn: Turn, isInSum: boolean): readonly OtherUsage[] | null {
  const { purpose, model, usage } = turn;
  const terms = turn.terms === undefined ? {} : { terms: turn.terms };
  const own: OtherUsage = { purpose: purpose ?? TURNS, model, classes: usage.classes, ...terms };
  const parts = (usage.others ?? []).map((other): OtherUsage => ({ ...other, ...terms }));
  let others: readonly OtherUsage[] | null = before;
  for (const added of isInSum ? parts : [own, ...parts])
    if (others !== null) others = addOther(others, added, turn.isTiered);
  return others;
}

function addOther(others: readonly OtherUsage[], added: OtherUsage, isTiered: boolean): readonly OtherUsage[] | null {
  const isSame = ({ purpose, model, terms }: OtherUsage): boolean =>
    purpose === added.purpose && model === added.model && areSameTerms(terms, added.terms);
  const isFull = others.length >= MAX_OTHERS;
  const index = others.findLastIndex(
    (other) => isSame(other) && (isFull || fits(other.classes, added.classes, isTiered)),
  );
  if (index === -1) return isFull ? null : [...others, added];
  return others.with(index, { ...added, classes: addClasses(others[index]?.classes ?? {}, added.classes) });
}

function fits(sum: ClassQuantities, more: ClassQuantities, isTiered: boolean): boolean {
  if (!isTiered || Object.keys(sum).length === 0) return true;
  return countPrompt(sum) + countPrompt(more) <= MAX_SUMMED_PROMPT;
}

function addCounts(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : left + right;
}

function readMember(native: JsonObject, name: string): JsonObject {
  const member = native[name];
  return isObject(member) ? member : {};
}

/** No provider nests its usage deeper. */
const MAX_DEPTH = 12;
/** Of one object, over all turns of a session. */
const MAX_MEMBERS = 256;

/** The providers' own objects, number by number, so that the sum can be read as each of them can. */
export function sumNative(left: JsonObject, right: JsonObject): JsonObject {
  return sumObjects(left, right, 0);
}

function sumObjects(left: JsonObject, right: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return left;
  const sum = new Map(Object.entries(left).slice(0, MAX_MEMBERS));
  for (const [name, value] of Object.entries(right)) {
    if (sum.size >= MAX_MEMBERS && !sum.has(name)) continue;
    sum.set(name, sumValues(sum.get(name), value, depth + 1));
  }
  return Object.fromEntries(sum);
}

function sumValues(left: JsonValue | undefined, right: JsonValue, depth: number): JsonValue {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (isObject(left) && isObject(right)) return sumObjects(left, right, depth);
  if (Array.isArray(left) && Array.isArray(right)) return sumByModality(left, right, depth);
  return right === null ? (left ?? null) : right;
}

/** Counts by modality are lists; an entry is added to the one of its modality. Other lists: the latest. */
function sumByModality(left: readonly JsonValue[], right: readonly JsonValue[], depth: number): readonly JsonValue[] {
  const entries = new Map<string, JsonObject>();
  for (const item of [...left, ...right]) {
    const modality = readName(item, 'modality');
    if (modality === null || !isObject(item)) return right;
    entries.set(modality, sumObjects(entries.get(modality) ?? {}, item, depth));
  }
  return [...entries.values()];
}
