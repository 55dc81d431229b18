/** Compares a stored call's cost with the current price book. Pure. */

import type { PriceCall, PricedCall } from '../../../pricing/billable-call.ts';
import { type PicoUsd, parseUsd } from '../../../vocabulary/usd.ts';
import type { LlmRequestRow } from '../../store/log-columns.ts';
import { type BillableRow, billableFromRow } from '../declared/billable-from-row.ts';

/** The columns that re-pricing writes, besides the cost lines. */
export const PRICED_COLUMNS = [
  'billing_model',
  'cost_status',
  'input_cost',
  'cache_read_cost',
  'cache_creation_cost',
  'output_cost',
  'other_cost',
  'total_cost',
  'known_cost',
  'price_version',
] as const;
export const COST_COLUMNS = [...PRICED_COLUMNS, 'priced_at', 'estimated_tokens', 'estimated_cost'] as const;

export type PricedRow = BillableRow & Pick<LlmRequestRow, (typeof COST_COLUMNS)[number]>;

export interface RepricedCall {
  readonly row: PricedRow;
  readonly priced: PricedCall;
  /** The amount, its known part or the billed model differs; another price origin is no change. */
  readonly isChanged: boolean;
}

/** The limit of `numeric(24,12)`. */
const COST_LIMIT: PicoUsd = 10n ** 24n;

function toPico(text: string | null): PicoUsd | null {
  return text === null ? null : parseUsd(text);
}

function hasOtherCost(row: PricedRow, priced: PricedCall): boolean {
  return (
    row.cost_status !== priced.costStatus ||
    row.billing_model !== priced.billingModel ||
    toPico(row.total_cost) !== priced.totalCost ||
    toPico(row.known_cost) !== priced.knownCost ||
    toPico(row.input_cost) !== priced.inputCost ||
    toPico(row.cache_read_cost) !== priced.cacheReadCost ||
    toPico(row.cache_creation_cost) !== priced.cacheCreationCost ||
    toPico(row.output_cost) !== priced.outputCost ||
    toPico(row.other_cost) !== priced.otherCost
  );
}

/** A call whose cost exceeds the column (implausible usage) stays as it is. */
export function repriceCall(row: PricedRow, priceCall: PriceCall): RepricedCall {
  const priced = priceCall(billableFromRow(row));
  return { row, priced, isChanged: priced.knownCost < COST_LIMIT && hasOtherCost(row, priced) };
}
