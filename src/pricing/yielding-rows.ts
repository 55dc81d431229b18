/**
 * Which rows that fill a hole outlive a later catalog. In the standard tier the catalog's own row stands after them and
 * counts. A row of another tier would be found before it, and catalogs have no tiers: it stays only as long as the
 * standard price beside it is the one that it was published with.
 */
import { isAwsRegion } from '../providers/aws-host.ts';
import { COMMERCIAL, readPlace, STANDARD_PLACE } from './place.ts';
import { isRowInForce, type PriceRow } from './price-row.ts';

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

function findStandard(rows: readonly PriceRow[], of: PriceRow, atMs: number): PriceRow | undefined {
  const places = listPlaces(of);
  const promptTokens = (of.promptTier?.overTokens ?? 0) + 1;
  return rows.findLast(
    (row) =>
      !isOfTier(row) &&
      row.usageClass === of.usageClass &&
      (row.places ?? [STANDARD_PLACE]).some((name) => places.includes(name)) &&
      isRowInForce(row, atMs, promptTokens),
  );
}

/** When the standard price beside a row begins to be another: -Infinity where it never was the same, else Infinity. */
function findEnd(row: PriceRow, { before, now }: RowsBeside): number {
  const { validFromMs, validToMs, checkedOn } = row;
  const checkedMs = Math.max(Date.parse(`${checkedOn}T12:00:00Z`), validFromMs ?? -Infinity);
  const startMs = validToMs === null ? checkedMs : Math.min(checkedMs, validToMs - 1);
  const differs = (atMs: number): boolean =>
    findStandard(before, row, atMs)?.rate !== findStandard(now, row, atMs)?.rate;
  if (differs(startMs)) return -Infinity;
  const changes = [...before, ...now].flatMap((one) => [one.validFromMs ?? [], one.validToMs ?? []]).flat();
  return Math.min(Infinity, ...changes.filter((atMs) => atMs > startMs && differs(atMs)));
}

function groupOf({ serviceTier, places }: PriceRow): string {
  return `${serviceTier} ${places?.join() ?? ''}`;
}

/** A tier ends as a whole: without half of its classes the others would get prices that are for no such tier. */
export function listUnyielded(yielding: readonly PriceRow[], beside: RowsBeside): readonly PriceRow[] {
  const ends = new Map<string, number>();
  for (const row of yielding) {
    if (!isOfTier(row)) continue;
    const group = groupOf(row);
    ends.set(group, Math.min(ends.get(group) ?? Infinity, findEnd(row, beside)));
  }
  return yielding.flatMap((row) => {
    const endMs = isOfTier(row) ? (ends.get(groupOf(row)) ?? Infinity) : Infinity;
    if (endMs === Infinity) return [row];
    return endMs === -Infinity ? [] : [{ ...row, validToMs: Math.min(endMs, row.validToMs ?? Infinity) }];
  });
}
