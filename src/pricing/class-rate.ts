/**
 * The rate of one usage class of one call: which row, which rules, and the multiplier that they make. Null when the
 * declared rows and rules do not say; nothing here falls back to a price that was not declared for the case.
 */
import { CACHE_WRITES, COUNTED_CLASSES, type PicturesAsked, TOOL_CLASSES, type UsageClass } from '../token-usage.ts';
import type { BillingTerms } from './billing-terms.ts';
import { type Decimal, multiplyDecimals, ONE } from './decimal.ts';
import type { ModelPrices, Multiplier } from './model-prices.ts';
import type { Discount } from './operator-prices.ts';
import { COMMERCIAL, STANDARD_PLACE } from './place.ts';
import { higherLayer, isForPictures, isRowInForce, isValidAt, type PriceLayer, type PriceRow } from './price-row.ts';

/** What is the same for all classes of a call. */
export interface PricingSituation {
  readonly prices: ModelPrices;
  readonly terms: BillingTerms;
  readonly atMs: number;
  /** The whole prompt: uncached, read from and written to the cache. It chooses the tier for every class. */
  readonly promptTokens: number;
  /** The prompt is a sum over several, of which each may be as short as it likes. */
  readonly isSumOfPrompts: boolean;
  /** Which rate what was written to the cache is billed at is not known. */
  readonly hasUnknownWrites: boolean;
  /** How pictures were asked for, where that is known. */
  readonly pictures: PicturesAsked | undefined;
  /** Negotiated with the provider, on its list prices; null when there is none. */
  readonly discount: Discount | null;
}

export interface ClassRate {
  readonly row: PriceRow;
  readonly multiplier: Decimal;
  readonly layer: PriceLayer;
  /** The row's key and those of the rules, joined with " × ". */
  readonly key: string;
  readonly rated_as: UsageClass;
}

const STANDARD = 'standard';
const TERMS = ['serviceTier', 'speed', 'inferenceGeo'] as const;

/** What the operator pays is declared for wherever it is served, and a tool costs the same wherever it is called. */
function holdsAtPlace(row: PriceRow, { terms: { place } }: PricingSituation): boolean {
  if (row.places !== null) return row.places.some((name) => place.names.includes(name));
  return row.layer === 'override' || TOOL_CLASSES.includes(row.unit) || place.names.includes(STANDARD_PLACE);
}

/** What a rule for another place starts from. */
function isListed({ places }: PriceRow): boolean {
  return places === null || places.includes(COMMERCIAL);
}

/** The last one that is for the tier, or for any: of the place, or of the standard place. */
function findRow(
  situation: PricingSituation,
  unit: UsageClass,
  tier: string,
  isOfPlace: boolean,
): PriceRow | undefined {
  const { prices, atMs, promptTokens, isSumOfPrompts, pictures } = situation;
  const findFor = (tokens: number) =>
    prices.rows.findLast(
      (row) =>
        row.unit === unit &&
        (row.serviceTier === tier || row.serviceTier === 'any') &&
        (isOfPlace ? holdsAtPlace(row, situation) : isListed(row)) &&
        isRowInForce(row, atMs, tokens) &&
        isForPictures(row.picture, pictures),
    );
  const row = findFor(promptTokens);
  // A sum may be of short prompts, of long ones or of both: a rate is known where it is the same for all.
  return isSumOfPrompts && row !== findFor(0) ? undefined : row;
}

interface FoundRow {
  readonly row: PriceRow;
  /** A published rate for the tier outranks the rule of thumb that holds for most models. */
  readonly isOfTier: boolean;
  readonly isOfPlace: boolean;
}

/** What holds at the place of the call outranks what would have to be multiplied for it. */
function findBestRow(situation: PricingSituation, unit: UsageClass): FoundRow | null {
  for (const isOfPlace of [true, false])
    for (const tier of [situation.terms.serviceTier, STANDARD]) {
      const row = findRow(situation, unit, tier, isOfPlace);
      if (row !== undefined) return { row, isOfTier: tier === situation.terms.serviceTier, isOfPlace };
    }
  return null;
}

function isFixed({ serviceTier }: PriceRow, unit: UsageClass): boolean {
  return serviceTier === 'any' || COUNTED_CLASSES.includes(unit);
}

/** The declared rule for each term that is not the standard one; undefined where there is none. */
function listMultipliers(
  { terms, prices, atMs }: PricingSituation,
  unit: UsageClass,
  { row, isOfTier, isOfPlace }: FoundRow,
): readonly (Multiplier | undefined)[] {
  const open = isFixed(row, unit)
    ? []
    : TERMS.filter((term) => terms[term] !== STANDARD && !(term === 'serviceTier' && isOfTier));
  const rules = prices.multipliers.filter((rule) => rule.units.includes(unit) && isValidAt(rule, atMs));
  const found = open.map((term) => rules.find((rule) => rule.term === term && rule.value === terms[term]));
  if (isOfPlace) return found;
  const ofPlace = terms.place.names.flatMap(
    (name) => rules.find((rule) => rule.term === 'place' && rule.value === name) ?? [],
  );
  return [...found, ofPlace[0]];
}

/** The rate under the class's own name, with the multiplier of every term that is not the standard one. */
function readOwnRate(situation: PricingSituation, unit: UsageClass): ClassRate | null {
  const found = findBestRow(situation, unit);
  if (found === null) return null;
  const { row } = found;
  const multipliers = listMultipliers(situation, unit, found);
  let multiplier = ONE;
  let key = row.key;
  for (const rule of multipliers) {
    if (rule === undefined) return null;
    multiplier = multiplyDecimals(multiplier, rule.factor);
    key += ` × ${rule.key}`;
  }
  return {
    row,
    multiplier,
    layer: multipliers.length > 0 ? higherLayer(row.layer, 'overlay') : row.layer,
    key,
    rated_as: unit,
  };
}

/** By a declared rule a class without a rate of its own is billed at a factor of another class's. */
function readDerivedRate(situation: PricingSituation, unit: UsageClass): ClassRate | null {
  const rule = situation.prices.derivations.find(
    (candidate) => candidate.units.includes(unit) && isValidAt(candidate, situation.atMs),
  );
  if (rule === undefined) return null;
  const base = readOwnRate(situation, rule.of);
  if (base === null) return null;
  return {
    ...base,
    multiplier: multiplyDecimals(base.multiplier, rule.factor),
    layer: higherLayer(base.layer, 'overlay'),
    key: `${base.key} × ${rule.key}`,
  };
}

export function readClassRate(situation: PricingSituation, unit: UsageClass): ClassRate | null {
  if (situation.hasUnknownWrites && CACHE_WRITES.includes(unit)) return null;
  const rate = readOwnRate(situation, unit) ?? readDerivedRate(situation, unit);
  const { discount } = situation;
  // The operator's own prices are what is paid; a discount is on what the provider lists.
  if (rate === null || discount === null || rate.row.layer === 'override') return rate;
  return {
    ...rate,
    multiplier: multiplyDecimals(rate.multiplier, discount.factor),
    layer: 'override',
    key: `${rate.key} × ${discount.key}`,
  };
}
