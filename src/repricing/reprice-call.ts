/** One stored call and what the price book makes of it now. Pure: it changes nothing and asks nobody. */
import { type BillableRow, toStoredCall } from '../prices/stored-call.ts';
import type { PriceCall, PricedCall } from '../pricing/billable-call.ts';
import type { LlmRequestRow } from '../store/llm-request-row.ts';
import { type PicoUsd, parseUsd } from '../usd.ts';

/** The cost of a call as it is stored; its lines are left where they are. */
export const COST_COLUMNS = [
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
  'priced_at',
  'estimated_tokens',
  'estimated_cost',
] as const;

export type StoredCost = Pick<LlmRequestRow, (typeof COST_COLUMNS)[number]>;
export type PricedRow = BillableRow & StoredCost;

export interface RepricedCall {
  readonly row: PricedRow;
  readonly priced: PricedCall;
  /** The money, what is known of it, or the model billed is another. That prices have another origin is no change. */
  readonly isChanged: boolean;
}

/** What `numeric(24,12)` cannot hold. */
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

/** A call with a cost beyond the column (its reported usage is nonsense) stays as it is. */
export function repriceCall(row: PricedRow, priceCall: PriceCall): RepricedCall {
  const priced = priceCall(toStoredCall(row));
  return { row, priced, isChanged: priced.knownCost < COST_LIMIT && hasOtherCost(row, priced) };
}
