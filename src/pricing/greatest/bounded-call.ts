/** What every kind of bound begins with: the call, its model and rates; and how a bound is told. */
import type { UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { AskedTerms, RateOf } from './dearest-rates.ts';
import type { AskedCall, GreatestCost, NoGreatestCost, OutputLimit } from './greatest-cost.ts';
import type { ModelLimits } from './model-limits.ts';

export interface BoundedCall {
  readonly call: AskedCall;
  readonly body: Buffer;
  readonly model: string;
  readonly limits: ModelLimits;
  readonly rateFor: (terms: AskedTerms) => RateOf;
}

/** What providers put before and around a request's text: roles, dates, a short system prompt. */
export const HIDDEN_TOKENS = 512;
/** The cost is the sum of as many rounded lines. */
export const ROUNDING: PicoUsd = 32n;

export const PLAIN: AskedTerms = { serviceTier: null, speed: null, inferenceGeo: null };

/** Writes of a cache that is kept as long as usual. */
export const DEFAULT_WRITES: readonly UsageClass[] = ['cache_creation_5m', 'cache_creation_30m'];

export function unknown(why: NoGreatestCost): GreatestCost {
  return { kind: 'unknown', why };
}

export function known(
  amount: PicoUsd,
  outputLimit: OutputLimit,
  promptTokens: number,
  outputTokens: number,
): GreatestCost {
  return { kind: 'known', amount, outputLimit, promptTokens, outputTokens };
}

/** The dearest of those that have a price; null where none has. */
export function dearest(rateOf: RateOf, classes: readonly UsageClass[], promptTokens: number): PicoUsd | null {
  return classes.reduce<PicoUsd | null>((most, usageClass) => {
    const rate = rateOf(usageClass, promptTokens);
    return rate !== null && (most === null || rate > most) ? rate : most;
  }, null);
}

export function readWindow({ prompt, output }: ModelLimits): number | null {
  return prompt ?? output;
}
