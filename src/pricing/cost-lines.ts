/** From reported quantities to cost lines and the sums of their groups. What it cannot price it names by leaving null. */
import { COUNTED_CLASSES, type TokenUsage, USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import { formatUsd, type PicoUsd } from '../usd.ts';
import type { CostLine, CostUnit } from './billable-call.ts';
import { type ClassRate, type PricingSituation, readClassRate } from './class-rate.ts';
import { formatDecimal, priceQuantity } from './decimal.ts';

/** No answer reports more; a larger figure is nonsense that would not fit the money columns. */
export const MAX_QUANTITY = 1_000_000_000_000;

const COST_GROUPS = ['input', 'cacheRead', 'cacheCreation', 'output', 'other'] as const;
type CostGroup = (typeof COST_GROUPS)[number];

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
  readonly groups: CostGroups;
}

export type CostGroups = Readonly<Partial<Record<CostGroup, PicoUsd | null>>>;

/** A sum of which a part is not known is not known. */
export function addGroups(first: CostGroups, second: CostGroups): CostGroups {
  const sums: Partial<Record<CostGroup, PicoUsd | null>> = { ...first };
  for (const group of COST_GROUPS) {
    const more = second[group];
    if (more === undefined) continue;
    const before = sums[group];
    sums[group] = more === null || before === null ? null : (before ?? 0n) + more;
  }
  return sums;
}

function groupOf(unit: UsageClass): CostGroup {
  if (COUNTED_CLASSES.includes(unit)) return 'other';
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
export function listQuantities(classes: TokenUsage['classes']): readonly Quantity[] {
  return USAGE_CLASSES.flatMap((unit) => {
    const quantity = classes[unit];
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

function unitOf(unit: UsageClass): CostUnit {
  if (!COUNTED_CLASSES.includes(unit)) return 'token';
  if (unit === 'input_audio_ms') return 'millisecond';
  if (unit === 'input_characters') return 'character';
  return unit === 'output_images' ? 'image' : 'request';
}

function createLine({ unit, quantity }: Quantity, rate: ClassRate, amount: PicoUsd): CostLine {
  return {
    class: unit,
    quantity,
    unit: unitOf(unit),
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
