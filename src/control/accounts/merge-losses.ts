/** Losses of several processes as one list, within a bound: by minute, key and model. Pure. */
import type { LossEntry } from '../../spool/loss-table.ts';
import { addClasses } from '../../token-usage.ts';

/** The latest are kept apart; the rest is one entry that says of what it is no more. */
export const MAX_LOSS_ENTRIES = 500;

/** The latest first. */
export function mergeLosses(entries: readonly LossEntry[]): readonly LossEntry[] {
  const merged = new Map<string, LossEntry>();
  for (const entry of entries) {
    const { minuteMs, accountId, keyId, provider, model } = entry;
    const isRest = accountId === null;
    // A number of one process says nothing among those of others.
    const { lastOrdinal: _, ...summed } = entry;
    const key = isRest ? 'rest' : JSON.stringify([minuteMs, accountId, keyId, provider, model]);
    merged.set(key, addEntry(merged.get(key), summed));
  }
  const rest = merged.get('rest');
  merged.delete('rest');
  const sorted = [...merged.values()].sort((a, b) => b.minuteMs - a.minuteMs);
  const over = [...sorted.slice(MAX_LOSS_ENTRIES - 1), ...(rest === undefined ? [] : [rest])];
  const others = over.reduce<LossEntry | undefined>((sum, entry) => addEntry(sum, toRest(entry)), undefined);
  return [...sorted.slice(0, MAX_LOSS_ENTRIES - 1), ...(others === undefined ? [] : [others])];
}

function toRest(entry: LossEntry): LossEntry {
  return { ...entry, accountId: null, keyId: null, provider: null, model: null };
}

function addEntry(sum: LossEntry | undefined, entry: LossEntry): LossEntry {
  if (sum === undefined) return entry;
  const usage = addClasses(sum.usage, entry.usage);
  return { ...sum, minuteMs: Math.min(sum.minuteMs, entry.minuteMs), calls: sum.calls + entry.calls, usage };
}
