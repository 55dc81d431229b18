/** Turns quantities into cost lines and group sums; what it cannot price is null. */
import { COUNTED_CLASSES, type TokenUsage, USAGE_CLASSES, type UsageClass } from '../vocabulary/token-usage.ts';
import { formatUsd, type PicoUsd } from '../vocabulary/usd.ts';
import type { CostLine, CostUnit } from './billable-call.ts';
import { type ClassRate, type PricingSituation, readClassRate } from './class-rate.ts';
import { formatDecimal, priceQuantity } from './decimal.ts';

/** A larger quantity is implausible and would not fit the money columns. */
export const MAX_QUANTITY = 1_000_000_000_000;

const COST_GROUPS = ['input', 'cacheRead', 'cacheCreation', 'output', 'other'] as const;
type CostGroup = (typeof COST_GROUPS)[number];

export interface Quantity {
  readonly usageClass: UsageClass;
  readonly quantity: number;
}

export interface CostLines {
  readonly lines: readonly CostLine[];
  readonly knownCost: PicoUsd;
  readonly isComplete: boolean;
  /** Null: a class of the group has no price. Absent: none was reported. */
  readonly groups: CostGroups;
}

export type CostGroups = Readonly<Partial<Record<CostGroup, PicoUsd | null>>>;

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

function groupOf(usageClass: UsageClass): CostGroup {
  if (COUNTED_CLASSES.includes(usageClass)) return 'other';
  if (usageClass.startsWith('cache_read')) return 'cacheRead';
  if (usageClass.startsWith('cache_creation')) return 'cacheCreation';
  return usageClass.startsWith('input') ? 'input' : 'output';
}

const CLASS_GROUPS: ReadonlyMap<UsageClass, CostGroup> = new Map(
  USAGE_CLASSES.map((usageClass) => [usageClass, groupOf(usageClass)]),
);

/** A negative, fractional or huge quantity stays in the record unpriced. */
function isCount(quantity: number): boolean {
  return Number.isSafeInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY;
}

export function listQuantities(classes: TokenUsage['classes']): readonly Quantity[] {
  return USAGE_CLASSES.flatMap((usageClass) => {
    const quantity = classes[usageClass];
    return quantity === undefined ? [] : [{ usageClass, quantity }];
  });
}

export function countPromptTokens(quantities: readonly Quantity[]): number {
  let tokens = 0;
  for (const { usageClass, quantity } of quantities) {
    const group = CLASS_GROUPS.get(usageClass);
    const isPrompt = group === 'input' || group === 'cacheRead' || group === 'cacheCreation';
    if (isPrompt && isCount(quantity)) tokens += quantity;
  }
  return tokens;
}

function unitOf(usageClass: UsageClass): CostUnit {
  if (!COUNTED_CLASSES.includes(usageClass)) return 'token';
  if (usageClass === 'input_audio_ms') return 'millisecond';
  if (usageClass === 'input_characters') return 'character';
  return usageClass === 'output_images' ? 'image' : 'request';
}

function createLine({ usageClass, quantity }: Quantity, rate: ClassRate, amount: PicoUsd): CostLine {
  return {
    class: usageClass,
    quantity,
    unit: unitOf(usageClass),
    rate: formatDecimal(rate.row.rate),
    per: rate.row.per,
    multiplier: formatDecimal(rate.multiplier),
    amount: formatUsd(amount),
    layer: rate.layer,
    row: rate.key,
    rated_as: rate.rated_as,
  };
}

/** Lines are rounded once each, so they sum exactly to the cost. Zero quantities have no line. */
export function createCostLines(situation: PricingSituation, quantities: readonly Quantity[]): CostLines {
  const lines: CostLine[] = [];
  let groups: CostGroups = {};
  let knownCost = 0n;
  let isComplete = true;
  for (const entry of quantities) {
    const group = CLASS_GROUPS.get(entry.usageClass) ?? 'other';
    let amount: PicoUsd | null = entry.quantity === 0 ? 0n : null;
    const rate = entry.quantity !== 0 && isCount(entry.quantity) ? readClassRate(situation, entry.usageClass) : null;
    if (rate !== null) {
      amount = priceQuantity(entry.quantity, rate.row.rate, rate.multiplier, rate.row.per);
      lines.push(createLine(entry, rate, amount));
      knownCost += amount;
    }
    groups = addGroups(groups, { [group]: amount });
    if (amount === null) isComplete = false;
  }
  return { lines, knownCost, isComplete, groups };
}
