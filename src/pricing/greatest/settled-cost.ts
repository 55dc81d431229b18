/** The cost of an ended call, as the shipper will store it for the same record and price book. */
import type { PriceBook } from '../price-book.ts';
import { type BilledBegin, type BilledEnd, toBillableCall } from '../to-billable-call.ts';
import type { NoSettledCost, SettledCost } from './greatest-cost.ts';

const REASONS = { partial: 'partial', unpriced: 'unpriced', no_usage: 'no-usage' } as const satisfies Record<
  string,
  NoSettledCost
>;

export function settledCostOf(begin: BilledBegin, end: BilledEnd, book: PriceBook): SettledCost {
  const { costStatus, totalCost, knownCost } = book.priceCall(toBillableCall(begin, end));
  if (end.flags.includes('usage_later')) return { kind: 'unknown', why: 'billed-later', knownAmount: knownCost };
  if (costStatus === 'exact' || costStatus === 'not_billed') return { kind: 'exact', amount: totalCost ?? knownCost };
  return { kind: 'unknown', why: REASONS[costStatus], knownAmount: knownCost };
}
