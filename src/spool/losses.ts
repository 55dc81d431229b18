/** Sums of lost calls by minute, key and model, within a bound. Pure. */
import type { CallBegin, CallEnd, ProviderName } from '../vocabulary/call-record.ts';
import { addClasses, type ClassQuantities } from '../vocabulary/token-usage.ts';

const MAX_MODEL_CHARS = 100;
const MINUTE_MS = 60_000;

/** Calls of one minute, key and model; one entry without names holds what does not fit. */
export interface LossEntry {
  /** Start of the (earliest) minute in which the calls began. */
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: ProviderName | null;
  readonly model: string | null;
  /** 0 for a further model of calls counted elsewhere. */
  readonly calls: number;
  readonly usage: ClassQuantities;
  /** The highest ordinal of these calls: at least so many calls were made. */
  readonly lastOrdinal?: number;
}

export interface Losses {
  readonly calls: number;
  readonly entries: readonly LossEntry[];
}

/** One lost call, as an entry for each model it used. `end` is null when unknown. */
export function listLosses(begin: CallBegin, end: CallEnd | null): readonly LossEntry[] {
  const model = end?.model ?? end?.modelRequested ?? begin.modelRequested;
  const first: LossEntry = {
    minuteMs: begin.requestedAtMs - (begin.requestedAtMs % MINUTE_MS),
    accountId: begin.accountId,
    keyId: begin.keyId,
    provider: begin.provider,
    model: cut(model),
    calls: 1,
    usage: end?.usage?.classes ?? {},
    ...(begin.ordinal === undefined ? {} : { lastOrdinal: begin.ordinal }),
  };
  const others = end?.usage?.others ?? [];
  return [
    first,
    ...others.map((other) => ({ ...first, model: cut(other.model ?? model), calls: 0, usage: other.classes })),
  ];
}

/** Merges to at most `max` (≥ 1) entries: latest minutes apart, older ones by key and model, the rest as one. */
export function mergeLosses(entries: readonly LossEntry[], max: number): readonly LossEntry[] {
  const exact = sumBy(entries, (entry) => `${entry.minuteMs} ${nameOf(entry)}`);
  if (exact.length <= max) return exact;
  const latestFirst = exact.toSorted((a, b) => b.minuteMs - a.minuteMs);
  const half = Math.floor(max / 2);
  const merged = [...latestFirst.slice(0, half), ...sumBy(latestFirst.slice(half), nameOf)];
  if (merged.length <= max) return merged;
  const tooMuch = merged.splice(max - 1).map((entry) => ({ ...entry, ...NOBODY }));
  return [...merged, ...sumBy(tooMuch, nameOf)];
}

const NOBODY = { accountId: null, keyId: null, provider: null, model: null } as const;

function nameOf({ accountId, keyId, provider, model }: LossEntry): string {
  return JSON.stringify([accountId, keyId, provider, model]);
}

function sumBy(entries: readonly LossEntry[], keyOf: (entry: LossEntry) => string): LossEntry[] {
  const sums = new Map<string, LossEntry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? entry : addEntry(sum, entry));
  }
  return [...sums.values()];
}

function addEntry(sum: LossEntry, entry: LossEntry): LossEntry {
  const lastOrdinal = Math.max(sum.lastOrdinal ?? 0, entry.lastOrdinal ?? 0);
  return {
    ...sum,
    minuteMs: Math.min(sum.minuteMs, entry.minuteMs),
    calls: sum.calls + entry.calls,
    usage: addClasses(sum.usage, entry.usage),
    ...(lastOrdinal === 0 ? {} : { lastOrdinal }),
  };
}

function cut(model: string | null): string | null {
  return model?.slice(0, MAX_MODEL_CHARS) ?? null;
}
