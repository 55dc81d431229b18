/** What the shipper asks of the price book: a call and its usage go in, exact amounts come out. No prices here. */
import type { Outcome, ProviderName } from '../call-record.ts';
import type { CostStatus } from '../store/llm-request-row.ts';
import type { TokenUsage, UsageSource } from '../token-usage.ts';
import type { PicoUsd } from '../usd.ts';

export interface BillableCall {
  readonly provider: ProviderName;
  readonly endpoint: string;
  readonly billed: boolean;
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

export interface PricedCall {
  readonly billingModel: string | null;
  readonly costStatus: CostStatus;
  /** Null unless every class is priced. */
  readonly totalCost: PicoUsd | null;
  readonly knownCost: PicoUsd;
  readonly inputCost: PicoUsd | null;
  readonly cacheReadCost: PicoUsd | null;
  readonly cacheCreationCost: PicoUsd | null;
  readonly outputCost: PicoUsd | null;
  readonly otherCost: PicoUsd | null;
  /** Ready for JSON: amounts are decimal strings. */
  readonly lines: readonly object[];
  readonly priceVersion: string;
}

/** Total: a call that it cannot price comes back as `unpriced`. */
export type PriceCall = (call: BillableCall) => PricedCall;
