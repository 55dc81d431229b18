/** The rate of one usage class of one call. Nothing falls back to a price declared for another case. */
import {
  CACHE_WRITES,
  COUNTED_CLASSES,
  type PicturesAsked,
  TOOL_CLASSES,
  type UsageClass,
} from '../vocabulary/token-usage.ts';
import type { BillingTerms } from './billing-terms.ts';
import { type Decimal, multiplyDecimals, ONE } from './decimal.ts';
import type { ModelPrices, Multiplier } from './model-prices.ts';
import type { Discount } from './operator-prices.ts';
import { COMMERCIAL, STANDARD_PLACE } from './place.ts';
import { higherLayer, isForPictures, isRowInForce, isValidAt, type PriceLayer, type PriceRow } from './price-row.ts';

export interface PricingSituation {
  readonly prices: ModelPrices;
  readonly terms: BillingTerms;
  readonly atMs: number;
  /** Uncached, cache-read and cache-written input, which chooses the tier for every class. */
  readonly promptTokens: number;
  /** The tokens sum up several prompts of unknown lengths. */
  readonly isSumOfPrompts: boolean;
  /** The answer does not tell the rate of its cache writes. */
  readonly hasUnknownWrites: boolean;
  readonly pictures: PicturesAsked | undefined;
  readonly discount: Discount | null;
}

export interface ClassRate {
  readonly row: PriceRow;
  readonly multiplier: Decimal;
  readonly layer: PriceLayer;
  readonly key: string;
  readonly rated_as: UsageClass;
}

const STANDARD = 'standard';
const TERMS = ['serviceTier', 'speed', 'inferenceGeo'] as const;

/** Operators' prices hold everywhere, and so do prices of tools. */
function holdsAtPlace(row: PriceRow, { terms: { place } }: PricingSituation): boolean {
  if (row.places !== null) return row.places.some((name) => place.names.includes(name));
  return row.layer === 'override' || TOOL_CLASSES.includes(row.usageClass) || place.names.includes(STANDARD_PLACE);
}

/** Rules for other places start from these rows. */
function isListed({ places }: PriceRow): boolean {
  return places === null || places.includes(COMMERCIAL);
}

/** The last row for the tier or any tier, at the call's place or the standard one. */
function findRow(
  situation: PricingSituation,
  usageClass: UsageClass,
  tier: string,
  isOfPlace: boolean,
): PriceRow | undefined {
  const { prices, atMs, promptTokens, isSumOfPrompts, pictures } = situation;
  const findFor = (tokens: number) =>
    prices.rows.findLast(
      (row) =>
        row.usageClass === usageClass &&
        (row.serviceTier === tier || row.serviceTier === 'any') &&
        (isOfPlace ? holdsAtPlace(row, situation) : isListed(row)) &&
        isRowInForce(row, atMs, tokens) &&
        isForPictures(row.picture, pictures),
    );
  const row = findFor(promptTokens);
  // A sum of short and long prompts has a rate only where all steps have the same.
  return isSumOfPrompts && row !== findFor(0) ? undefined : row;
}

interface FoundRow {
  readonly row: PriceRow;
  /** A published rate for the tier outranks the general rule. */
  readonly isOfTier: boolean;
  readonly isOfPlace: boolean;
}

/** A row for the call's place outranks a multiplied one. */
function findBestRow(situation: PricingSituation, usageClass: UsageClass): FoundRow | null {
  for (const isOfPlace of [true, false])
    for (const tier of [situation.terms.serviceTier, STANDARD]) {
      const row = findRow(situation, usageClass, tier, isOfPlace);
      if (row !== undefined) return { row, isOfTier: tier === situation.terms.serviceTier, isOfPlace };
    }
  return null;
}

function isFixed({ serviceTier }: PriceRow, usageClass: UsageClass): boolean {
  return serviceTier === 'any' || COUNTED_CLASSES.includes(usageClass);
}

function listMultipliers(
  { terms, prices, atMs }: PricingSituation,
  usageClass: UsageClass,
  { row, isOfTier, isOfPlace }: FoundRow,
): readonly (Multiplier | undefined)[] {
  const open = isFixed(row, usageClass)
    ? []
    : TERMS.filter((term) => terms[term] !== STANDARD && !(term === 'serviceTier' && isOfTier));
  const rules = prices.multipliers.filter((rule) => rule.units.includes(usageClass) && isValidAt(rule, atMs));
  const found = open.map((term) => rules.find((rule) => rule.term === term && rule.value === terms[term]));
  if (isOfPlace) return found;
  const ofPlace = terms.place.names.flatMap(
    (name) => rules.find((rule) => rule.term === 'place' && rule.value === name) ?? [],
  );
  return [...found, ofPlace[0]];
}

/** The class's own rate, multiplied for every term that is not standard. */
function readOwnRate(situation: PricingSituation, usageClass: UsageClass): ClassRate | null {
  const found = findBestRow(situation, usageClass);
  if (found === null) return null;
  const { row } = found;
  const multipliers = listMultipliers(situation, usageClass, found);
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
    rated_as: usageClass,
  };
}

/** Declared rules bill a class without its own rate at a factor of another class's. */
function readDerivedRate(situation: PricingSituation, usageClass: UsageClass): ClassRate | null {
  const rule = situation.prices.derivations.find(
    (candidate) => candidate.units.includes(usageClass) && isValidAt(candidate, situation.atMs),
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

export function readClassRate(situation: PricingSituation, usageClass: UsageClass): ClassRate | null {
  if (situation.hasUnknownWrites && CACHE_WRITES.includes(usageClass)) return null;
  const rate = readOwnRate(situation, usageClass) ?? readDerivedRate(situation, usageClass);
  const { discount } = situation;
  // Discounts are on list prices, not on the operator's own.
  if (rate === null || discount === null || rate.row.layer === 'override') return rate;
  return {
    ...rate,
    multiplier: multiplyDecimals(rate.multiplier, discount.factor),
    layer: 'override',
    key: `${rate.key} × ${discount.key}`,
  };
}
