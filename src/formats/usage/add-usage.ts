/** Adds one report of usage to the sum of those before. Work of other models is summed apart, by purpose and model. */
import {
  addClasses,
  type ClassQuantities,
  countPrompt,
  type JsonObject,
  type JsonValue,
  type OtherUsage,
  type TokenUsage,
} from '../../vocabulary/token-usage.ts';
import { isObject, readName } from './read-json.ts';

/** Sums stay below the first step of every tiered model, so that they are never rated as one long prompt. */
const MAX_SUMMED_PROMPT = 200_000;
/** Later ones are added to the last one of their kind. */
const MAX_OTHERS = 256;
const TURNS = 'turns';

export interface AddedUsage {
  /** Null: the sum's own work; otherwise the other model's task, e.g. `transcription`. */
  readonly purpose: string | null;
  /** Null: the sum's own model. */
  readonly model: string | null;
  readonly usage: TokenUsage;
  /** True where rates rise with the length of the prompt. */
  readonly isTiered: boolean;
}

export function addUsage(sum: TokenUsage | null, added: AddedUsage): TokenUsage {
  const before = sum ?? { classes: {}, reasoning: null, native: {} };
  const { purpose, model, usage } = added;
  const isOwn = purpose === null && model === null;
  const hasRoom = isOwn && fits(before.classes, usage.classes, added.isTiered);
  const others = addOthers(before.others ?? [], added, hasRoom);
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
function addOthers(
  before: readonly OtherUsage[],
  { purpose, model, usage, isTiered }: AddedUsage,
  isInSum: boolean,
): readonly OtherUsage[] | null {
  const own: OtherUsage = { purpose: purpose ?? TURNS, model, classes: usage.classes };
  const parts = usage.others ?? [];
  let others: readonly OtherUsage[] | null = before;
  for (const other of isInSum ? parts : [own, ...parts])
    if (others !== null) others = addOther(others, other, isTiered);
  return others;
}

function addOther(others: readonly OtherUsage[], added: OtherUsage, isTiered: boolean): readonly OtherUsage[] | null {
  const isSame = ({ purpose, model }: OtherUsage): boolean => purpose === added.purpose && model === added.model;
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

const MAX_DEPTH = 12;
/** A bound on one object, over all turns of a session. */
const MAX_MEMBERS = 256;

/** Sums the providers' own objects number by number, so that the sum is read like one of them. */
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

/** Counts by modality are lists: entries are added by modality. Other lists are replaced by the latest. */
function sumByModality(left: readonly JsonValue[], right: readonly JsonValue[], depth: number): readonly JsonValue[] {
  const entries = new Map<string, JsonObject>();
  for (const item of [...left, ...right]) {
    const modality = readName(item, 'modality');
    if (modality === null || !isObject(item)) return right;
    entries.set(modality, sumObjects(entries.get(modality) ?? {}, item, depth));
  }
  return [...entries.values()];
}
