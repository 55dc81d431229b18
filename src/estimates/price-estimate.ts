/** What a call with an estimate costs at given prices: what was reported and what was estimated, as if all of it had been reported. */
import type { BillableCall, PriceCall } from '../pricing/billable-call.ts';
import type { JsonObject, JsonValue, TokenUsage } from '../token-usage.ts';
import type { PicoUsd } from '../usd.ts';

/** What `numeric(24,12)` cannot hold: some of what was reported is nonsense. */
const COST_LIMIT: PicoUsd = 10n ** 24n;

/** `estimatedTokens` as it is stored. Null when there is no estimate, or a part has no price. */
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
