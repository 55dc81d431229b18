/** From reported quantities to cost lines and the sums of their groups. What it cannot price it names by leaving null. */
import { USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import { formatUsd, type PicoUsd } from '../usd.ts';
import type { BillableCall, CostLine } from './billable-call.ts';
import { type ClassRate, type PricingSituation, readClassRate } from './class-rate.ts';
import { formatDecimal, priceQuantity } from './decimal.ts';
import { REQUEST_CLASSES } from './overlay-row.ts';

/** No answer reports more; a larger figure is nonsense that would not fit the money columns. */
export const MAX_QUANTITY = 1_000_000_000_000;

type CostGroup = 'input' | 'cacheRead' | 'cacheCreation' | 'output' | 'other';

export interface Quantity {
  readonly unit: UsageClass;
  readonly quantity: number;
}

export interface CostLines {
  readonly lines: readonly CostLine[];
  readonly knownCost: PicoUsd;
  /** Every class that was used has a price. */
  readonly isComplete: boolean;
  /** Null: a class of the group has no price. Absent: none of its classes was reported. */
  readonly groups: Readonly<Partial<Record<CostGroup, PicoUsd | null>>>;
}

function groupOf(unit: UsageClass): CostGroup {
  if (REQUEST_CLASSES.includes(unit)) return 'other';
  if (unit.startsWith('cache_read')) return 'cacheRead';
  if (unit.startsWith('cache_creation')) return 'cacheCreation';
  return unit.startsWith('input') ? 'input' : 'output';
}

const CLASS_GROUPS: ReadonlyMap<UsageClass, CostGroup> = new Map(USAGE_CLASSES.map((unit) => [unit, groupOf(unit)]));

/** A negative, fractional or absurd quantity is not a count. It stays in the record, unpriced. */
function isCount(quantity: number): boolean {
  return Number.isSafeInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY;
}

/** The reported classes, in the order of the vocabulary. */
export function listQuantities(usage: BillableCall['usage']): readonly Quantity[] {
  return USAGE_CLASSES.flatMap((unit) => {
    const quantity = usage?.classes[unit];
    return quantity === undefined ? [] : [{ unit, quantity }];
  });
}

/** Output does not count towards a price tier; everything that was sent does, cached or not. */
export function countPromptTokens(quantities: readonly Quantity[]): number {
  let tokens = 0;
  for (const { unit, quantity } of quantities) {
    const group = CLASS_GROUPS.get(unit);
    const isPrompt = group === 'input' || group === 'cacheRead' || group === 'cacheCreation';
    if (isPrompt && isCount(quantity)) tokens += quantity;
  }
  return tokens;
}

function createLine({ unit, quantity }: Quantity, rate: ClassRate, amount: PicoUsd): CostLine {
  return {
    class: unit,
    quantity,
    unit: REQUEST_CLASSES.includes(unit) ? 'request' : 'token',
    rate: formatDecimal(rate.row.rate),
    per: rate.row.per,
    multiplier: formatDecimal(rate.multiplier),
    amount: formatUsd(amount),
    layer: rate.layer,
    row: rate.key,
    rated_as: rate.rated_as,
  };
}

/** Each line is rounded once, so the sum of the lines is the cost to the last digit. Nothing used, no line. */
export function createCostLines(situation: PricingSituation, quantities: readonly Quantity[]): CostLines {
  const lines: CostLine[] = [];
  const groups: Partial<Record<CostGroup, PicoUsd | null>> = {};
  let knownCost = 0n;
  let isComplete = true;
  for (const entry of quantities) {
    const group = CLASS_GROUPS.get(entry.unit) ?? 'other';
    let amount: PicoUsd | null = entry.quantity === 0 ? 0n : null;
    const rate = entry.quantity !== 0 && isCount(entry.quantity) ? readClassRate(situation, entry.unit) : null;
    if (rate !== null) {
      amount = priceQuantity(entry.quantity, rate.row.rate, rate.multiplier, rate.row.per);
      lines.push(createLine(entry, rate, amount));
      knownCost += amount;
    }
    const before = groups[group];
    groups[group] = amount === null || before === null ? null : (before ?? 0n) + amount;
    if (amount === null) isComplete = false;
  }
  return { lines, knownCost, isComplete, groups };
}
