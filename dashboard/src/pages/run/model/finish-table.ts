/** What of a table needs all of its rows: activity over time, places on the cost axis, what the members of a fold are like. */
import { CALL, type FoldStatistics } from './run-table.ts';
import type { Columns } from './table-columns.ts';
import { PROFILE_PARTS, readTimeProfile } from './time-profile.ts';

const MAX_INT64 = 2n ** 63n - 1n;

/** A typed array crosses to the page at once; amounts that do not fit one (above nine million dollars) go as they are. */
export function packAmounts(amounts: readonly bigint[]): ArrayLike<bigint> {
  const fits = amounts.every((amount) => amount <= MAX_INT64 && amount >= -MAX_INT64);
  return fits ? BigInt64Array.from(amounts) : amounts;
}

function median<T>(sorted: readonly T[]): T | undefined {
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function byAmount(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Only whole amounts are compared: a member with unpriced calls has no place in an order. */
export function readFoldStatistics(
  columns: Columns,
  costs: readonly bigint[],
  members: readonly number[],
): FoldStatistics {
  const known = members
    .filter((row) => columns.unpriced[row] === 0)
    .map((row) => costs[row] ?? 0n)
    .sort(byAmount);
  const times = members.map((row) => (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0)).sort((a, b) => a - b);
  return {
    minCost: known[0] ?? null,
    medianCost: median(known) ?? null,
    maxCost: known.at(-1) ?? null,
    minMs: times[0] ?? 0,
    medianMs: median(times) ?? 0,
    maxMs: times.at(-1) ?? 0,
  };
}

/** Each call's start and end to every node above it, in order of time: a profile then needs no sorting of its own. */
export function setProfiles(columns: Columns, count: number): void {
  const calls: number[] = [];
  for (let row = 0; row < count; row += 1) if (columns.kind[row] === CALL) calls.push(row);
  const starts = new Map<number, number[]>();
  const ends = new Map<number, number[]>();
  const collect = (times: Float64Array, into: Map<number, number[]>) => {
    calls.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
    for (const call of calls)
      for (let above = columns.parent[call] ?? -1; above >= 0; above = columns.parent[above] ?? -1) {
        const list = into.get(above);
        if (list === undefined) into.set(above, [times[call] ?? 0]);
        else list.push(times[call] ?? 0);
      }
  };
  collect(columns.startMs, starts);
  collect(columns.endMs, ends);
  for (const [row, list] of starts) {
    const { parts, activeMs, callMs, maxParallel } = readTimeProfile(list, ends.get(row) ?? []);
    columns.profiles.set(parts, (columns.slot[row] ?? 0) * PROFILE_PARTS);
    columns.activeMs[row] = activeMs;
    columns.callMs[row] = callMs;
    columns.maxParallel[row] = maxParallel;
  }
}

/** Millionths are enough for a drawing, and keep the sum in whole numbers. */
const SHARE_SCALE = 100_000_000n;

export function setCostBefore(columns: Columns, totals: readonly bigint[], count: number): void {
  const whole = totals[0] ?? 0n;
  let before = 0n;
  for (let row = 0; row < count; row += 1) {
    const share = whole === 0n ? 0 : Number((before * SHARE_SCALE) / whole) / Number(SHARE_SCALE);
    columns.costBefore[row] = share;
    if (columns.kind[row] === CALL) before += totals[row] ?? 0n;
  }
  columns.costBefore[count] = whole === 0n ? 0 : 1;
}
