/** The price book's question and answer: what can change a call's price, and the cost columns of its row. */
import type { Outcome, ProviderName } from '../vocabulary/call-record.ts';
import type { CostStatus } from '../vocabulary/cost-status.ts';
import type { TokenUsage, UsageClass, UsageSource } from '../vocabulary/token-usage.ts';
import type { PicoUsd } from '../vocabulary/usd.ts';
import type { PriceLayer } from './price-row.ts';

export interface BillableCall {
  readonly provider: ProviderName;
  /** The operator's account at the provider, which may have its own prices. */
  readonly providerAlias: string | null;
  readonly endpoint: string;
  readonly billed: boolean;
  /** Its usage stands in other records: of a result that is made later, or of a connection's responses. */
  readonly isBilledElsewhere: boolean;
  /** It fetched a result that could not be read, whose cost is unknown. */
  readonly isUnreadResult?: boolean;
  /** It asked for no output, so that a usage of nothing is right. */
  readonly isPrewarm?: boolean;
  readonly requestedAtMs: number;
  readonly model: string | null;
  readonly modelRequested: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly region: string | null;
  readonly isBatch: boolean;
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly errorType: string | null;
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
}

export type CostUnit = 'token' | 'request' | 'character' | 'image' | 'millisecond';

/** How one class's cost came about: quantity × rate × multiplier ÷ per. Stored as JSON. */
export interface CostLine {
  readonly class: UsageClass;
  /** Another model than the call's, and its purpose; both absent for the call's own. */
  readonly model?: string;
  readonly purpose?: string;
  readonly quantity: number;
  readonly unit: CostUnit;
  /** USD for `per` units as a decimal string, like the next two. */
  readonly rate: string;
  readonly per: number;
  readonly multiplier: string;
  readonly amount: string;
  readonly layer: PriceLayer;
  /** The row, then the rules, that made the price. */
  readonly row: string;
  /** The class whose rate was used; a declared rule can make it differ from `class`. */
  readonly rated_as: UsageClass;
}

export interface PricedCall {
  /** The looked-up model id; null when the call names none. */
  readonly billingModel: string | null;
  readonly costStatus: CostStatus;
  readonly totalCost: PicoUsd | null;
  readonly knownCost: PicoUsd;
  /** Null where a class of the group has no price or none was reported. */
  readonly inputCost: PicoUsd | null;
  readonly cacheReadCost: PicoUsd | null;
  readonly cacheCreationCost: PicoUsd | null;
  readonly outputCost: PicoUsd | null;
  readonly otherCost: PicoUsd | null;
  readonly lines: readonly CostLine[];
  readonly priceVersion: string;
}

/** Never throws: a call without a price is `unpriced`. */
export type PriceCall = (call: BillableCall) => PricedCall;

/** By the prices that the account has declared, too. */
export type PriceCallOf = (call: BillableCall, accountId: number) => PricedCall;
