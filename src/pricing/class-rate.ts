/**
 * The rate of one usage class of one call: which row, which rules, and the multiplier that they make. Null when the
 * declared rows and rules do not say; nothing here falls back to a price that was not declared for the case.
 */
import { COUNTED_CLASSES, type PicturesAsked, type UsageClass } from '../token-usage.ts';
import type { BillingTerms } from './billing-terms.ts';
import { type Decimal, multiplyDecimals, ONE } from './decimal.ts';
import type { ModelPrices } from './model-prices.ts';
import type { Discount } from './operator-prices.ts';
import type { TermName } from './overlay-rules.ts';
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
const TERMS: readonly TermName[] = ['serviceTier', 'speed', 'inferenceGeo'];

/** The last one that is for the tier, or for any. */
function findRow(
  { prices, atMs, promptTokens, isSumOfPrompts, pictures }: PricingSituation,
  unit: UsageClass,
  tier: string,
): PriceRow | undefined {
  const findFor = (tokens: number) =>
    prices.rows.findLast(
      (row) =>
        row.unit === unit &&
        (row.serviceTier === tier || row.serviceTier === 'any') &&
        isRowInForce(row, atMs, tokens) &&
        isForPictures(row.picture, pictures),
    );
  const row = findFor(promptTokens);
  // A sum may be of short prompts, of long ones or of both: a rate is known where it is the same for all.
  return isSumOfPrompts && row !== findFor(0) ? undefined : row;
}

/** The rate under the class's own name, with the multiplier of every term that is not the standard one. */
function readOwnRate(situation: PricingSituation, unit: UsageClass): ClassRate | null {
  const { terms, prices, atMs } = situation;
  // A published rate for the tier outranks the rule of thumb that holds for most models.
  const ofTier = findRow(situation, unit, terms.serviceTier);
  const row = ofTier ?? findRow(situation, unit, STANDARD);
  if (row === undefined) return null;
  const isFixed = row.serviceTier === 'any' || COUNTED_CLASSES.includes(unit);
  if (isFixed) return { row, multiplier: ONE, layer: row.layer, key: row.key, rated_as: unit };

  const open = TERMS.filter((term) => terms[term] !== STANDARD && !(term === 'serviceTier' && ofTier !== undefined));
  const multipliers = open.map((term) =>
    prices.multipliers.find(
      (rule) => rule.term === term && rule.value === terms[term] && rule.units.includes(unit) && isValidAt(rule, atMs),
    ),
  );
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
