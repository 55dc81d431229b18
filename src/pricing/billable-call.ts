/**
 * What the price book is asked and what it answers. `BillableCall` is the part of a call's record that can change its
 * price; `PricedCall` is the cost columns of its row. No arithmetic here.
 */
import type { Outcome, ProviderName } from '../call-record.ts';
import type { CostStatus } from '../cost-status.ts';
import type { TokenUsage, UsageClass, UsageSource } from '../token-usage.ts';
import type { PicoUsd } from '../usd.ts';
import type { PriceLayer } from './price-row.ts';

export interface BillableCall {
  readonly provider: ProviderName;
  /** Names the operator's account or deployment at the provider, which may have its own prices. */
  readonly providerAlias: string | null;
  readonly endpoint: string;
  /** False for endpoints that cost nothing by themselves. */
  readonly billed: boolean;
  /** What it asked for is made, and billed, later. */
  readonly isLater: boolean;
  /** It fetched a result that could not be read: what it is billed for, if no other call is, nobody knows. */
  readonly isUnreadResult?: boolean;
  /** Prices are those of this moment. */
  readonly requestedAtMs: number;
  /** Served, by the answer. */
  readonly model: string | null;
  readonly modelRequested: string | null;
  /** These three as the answer reported them. */
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly region: string | null;
  readonly isBatch: boolean;
  readonly outcome: Outcome;
  readonly status: number | null;
  /** The gateway's own error code or the provider's error type, where known. */
  readonly errorType: string | null;
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
}

export type CostUnit = 'token' | 'request' | 'character' | 'image' | 'millisecond';

/** How one class's amount came about: quantity × rate × multiplier ÷ per. Stored as JSON. */
export interface CostLine {
  readonly class: UsageClass;
  /** Another model than the call's, and what it worked as; both absent for the call's own. */
  readonly model?: string;
  readonly purpose?: string;
  readonly quantity: number;
  readonly unit: CostUnit;
  /** USD for `per` units, a decimal string like the two after it. */
  readonly rate: string;
  readonly per: number;
  readonly multiplier: string;
  readonly amount: string;
  readonly layer: PriceLayer;
  /** The row, and after it the rules, that made the price. */
  readonly row: string;
  /** The class whose rate was used: another one than `class` where a declared rule says so. */
  readonly rated_as: UsageClass;
}

export interface PricedCall {
  /** The model id that the price was looked up by; null when the call names none. */
  readonly billingModel: string | null;
  readonly costStatus: CostStatus;
  /** Null unless the whole cost is known. */
  readonly totalCost: PicoUsd | null;
  readonly knownCost: PicoUsd;
  /** Null where a class of the group has no price, or where none was reported. */
  readonly inputCost: PicoUsd | null;
  readonly cacheReadCost: PicoUsd | null;
  readonly cacheCreationCost: PicoUsd | null;
  readonly outputCost: PicoUsd | null;
  readonly otherCost: PicoUsd | null;
  readonly lines: readonly CostLine[];
  readonly priceVersion: string;
}

/** Total: a call that it cannot price comes back as `unpriced`. */
export type PriceCall = (call: BillableCall) => PricedCall;
