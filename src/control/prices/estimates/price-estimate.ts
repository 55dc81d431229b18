/** Prices a call's reported and estimated tokens as if all had been reported. */
import type { BillableCall, PriceCall } from '../../../pricing/billable-call.ts';
import type { JsonObject, JsonValue, TokenUsage } from '../../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../../vocabulary/usd.ts';

/** The limit of `numeric(24,12)`; implausible reports can exceed it. */
const COST_LIMIT: PicoUsd = 10n ** 24n;

/** `estimatedTokens` as stored. Null without an estimate or where a part has no price. */
export function priceEstimate(call: BillableCall, estimatedTokens: JsonObject, priceCall: PriceCall): PicoUsd | null {
  const { input, output } = estimatedTokens;
  const estimated = { ...toClass('input', input), ...toClass('output', output) };
  if (Object.keys(estimated).length === 0) return null;
  const { isIncomplete: _, ...reported } = call.usage ?? { classes: {}, reasoning: null, native: {} };
  const usage: TokenUsage = { ...reported, classes: { ...reported.classes, ...estimated } };
  const { totalCost } = priceCall({ ...call, usage, usageSource: 'provider' });
  return totalCost === null || totalCost >= COST_LIMIT ? null : totalCost;
}

function toClass(name: 'input' | 'output', quantity: JsonValue | undefined): TokenUsage['classes'] {
  return typeof quantity === 'number' ? { [name]: quantity } : {};
}
