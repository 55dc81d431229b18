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
  /** The day of the catalog in use. */
  readonly atMs: number;
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

function isBesideAnother(row: PriceRow, { before, now, atMs }: RowsBeside): boolean {
  const whileValid = Math.max(
    row.validFromMs ?? atMs,
    row.validToMs === null ? atMs : Math.min(atMs, row.validToMs - 1),
  );
  return findStandard(before, row, whileValid)?.rate !== findStandard(now, row, whileValid)?.rate;
}

function groupOf({ serviceTier, places }: PriceRow): string {
  return `${serviceTier} ${places?.join() ?? ''}`;
}

/** A tier goes as a whole: of half its classes the others would be priced by rules that are for no such tier. */
export function listUnyielded(yielding: readonly PriceRow[], beside: RowsBeside): readonly PriceRow[] {
  const gone = new Set(yielding.filter((row) => isOfTier(row) && isBesideAnother(row, beside)).map(groupOf));
  return gone.size === 0 ? yielding : yielding.filter((row) => !isOfTier(row) || !gone.has(groupOf(row)));
}
