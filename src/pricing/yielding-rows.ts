/**
 * Which rows that fill a hole outlive a later catalog. In the standard tier the catalog's own row stands after them and
 * counts. A row of another tier would be found before it, and catalogs have no tiers: it stays only as long, and for prompts
 * only as long, as the standard price beside it is the one that it was published with.
 */
import { isAwsRegion } from '../providers/aws-host.ts';
import { COMMERCIAL, readPlace, STANDARD_PLACE } from './place.ts';
import { isRowInForce, type PriceRow } from './price-row.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS = 7;

/** By rising precedence, as of one model. */
export interface RowsBeside {
  /** With the catalog that the overlay was checked beside. */
  readonly before: readonly PriceRow[];
  /** With the catalog in use. */
  readonly now: readonly PriceRow[];
}

function isOfTier({ serviceTier }: PriceRow): boolean {
  return serviceTier !== 'standard' && serviceTier !== 'any';
}

function listPlaces({ provider, places }: PriceRow): readonly string[] {
  const names = places ?? [STANDARD_PLACE];
  return names.flatMap((name) => {
    if (name === COMMERCIAL) return [name, STANDARD_PLACE];
    return isAwsRegion(name) ? readPlace({ provider, region: name }, null).names : [name];
  });
}

function findStandard(
  rows: readonly PriceRow[],
  of: PriceRow,
  atMs: number,
  promptTokens: number,
): PriceRow | undefined {
  const places = listPlaces(of);
  return rows.findLast(
    (row) =>
      !isOfTier(row) &&
      row.usageClass === of.usageClass &&
      (row.places ?? [STANDARD_PLACE]).some((name) => places.includes(name)) &&
      isRowInForce(row, atMs, promptTokens),
  );
}

/** Up to where a row is beside the standard price that it was published with. */
interface Reach {
  /** Infinity: for good. */
  readonly endMs: number;
  /** The longest prompt; 0 where the price never was the same, Infinity where prompts of any length have it. */
  readonly upToTokens: number;
}

/** The lengths of prompts at which a price may begin to be another, each as the longest one before. */
function listEdges({ promptTier }: PriceRow, rows: readonly PriceRow[]): readonly number[] {
  const { overTokens: from, upToTokens: to } = promptTier ?? { overTokens: 0, upToTokens: Infinity };
  const edges = rows.flatMap((row) => (row.promptTier === null ? [] : Object.values(row.promptTier)));
  const within = edges.filter((edge) => edge > from && edge < to && edge < Number.MAX_SAFE_INTEGER);
  return [...new Set([from, ...within])].sort((a, b) => a - b);
}

/** Every moment of the week after `fromMs` at which a window of hours begins or ends. */
function listWindowEdges(rows: readonly PriceRow[], fromMs: number): readonly number[] {
  const dayMs = fromMs - (fromMs % DAY_MS);
  const minutes = rows.flatMap(({ calendar }) =>
    calendar === null
      ? []
      : [calendar.fromMinute, calendar.toMinute].map((minute) => minute - calendar.utcOffsetMinutes),
  );
  return [...new Set(minutes)].flatMap((minute) =>
    Array.from({ length: DAYS + 1 }, (_, day) => dayMs + day * DAY_MS + minute * MINUTE_MS).filter((at) => at > fromMs),
  );
}

function findReach(row: PriceRow, { before, now }: RowsBeside): Reach {
  const { validFromMs, validToMs, checkedOn } = row;
  const checkedMs = Math.max(Date.parse(`${checkedOn}T12:00:00Z`), validFromMs ?? -Infinity);
  const startMs = validToMs === null ? checkedMs : Math.min(checkedMs, validToMs - 1);
  const all = [...before, ...now].filter((one) => one.usageClass === row.usageClass);
  const changes = all.flatMap((one) => [one.validFromMs ?? [], one.validToMs ?? []].flat());
  const nextMs = Math.min(Infinity, ...changes.filter((atMs) => atMs > startMs));
  const differs = (edge: number, atMs: number): boolean =>
    findStandard(before, row, atMs, edge + 1)?.rate !== findStandard(now, row, atMs, edge + 1)?.rate;
  const moments = [startMs, ...listWindowEdges(all, startMs).filter((atMs) => atMs < nextMs)];
  const edges = listEdges(row, all);
  const upToTokens = edges.find((edge) => moments.some((atMs) => differs(edge, atMs))) ?? Infinity;
  const kept = edges.filter((edge) => edge < upToTokens);
  const ends = changes.filter((atMs) => atMs > startMs && kept.some((edge) => differs(edge, atMs)));
  return { endMs: Math.min(Infinity, ...ends), upToTokens };
}

const FOR_GOOD: Reach = { endMs: Infinity, upToTokens: Infinity };

function groupOf({ serviceTier, places }: PriceRow): string {
  return `${serviceTier} ${places?.join() ?? ''}`;
}

/** A tier ends as a whole: without half of its classes the others would get prices that are for no such tier. */
export function listUnyielded(yielding: readonly PriceRow[], beside: RowsBeside): readonly PriceRow[] {
  const reaches = new Map<string, Reach>();
  for (const row of yielding) {
    if (!isOfTier(row)) continue;
    const group = groupOf(row);
    const known = reaches.get(group) ?? FOR_GOOD;
    const reach = findReach(row, beside);
    reaches.set(group, {
      endMs: Math.min(known.endMs, reach.endMs),
      upToTokens: Math.min(known.upToTokens, reach.upToTokens),
    });
  }
  return yielding.flatMap((row) => {
    const reach = isOfTier(row) ? (reaches.get(groupOf(row)) ?? FOR_GOOD) : FOR_GOOD;
    return cutRow(row, reach);
  });
}

function cutRow(row: PriceRow, { endMs, upToTokens }: Reach): readonly PriceRow[] {
  if (endMs === Infinity && upToTokens === Infinity) return [row];
  const { overTokens, upToTokens: longest } = row.promptTier ?? { overTokens: -1, upToTokens: Infinity };
  if (upToTokens <= Math.max(0, overTokens)) return [];
  const validToMs = endMs === Infinity ? row.validToMs : Math.min(endMs, row.validToMs ?? Infinity);
  const promptTier = upToTokens >= longest ? row.promptTier : { overTokens, upToTokens };
  return [{ ...row, validToMs, promptTier }];
}
