/** A call to price: one to OpenAI on its usual terms that was answered, unless said otherwise. */
import type { BillableCall } from '../../src/pricing/billable-call.ts';
import type { ClassQuantities, TokenUsage } from '../../src/vocabulary/token-usage.ts';

export function billableCall(changes: Partial<BillableCall> = {}): BillableCall {
  return {
    provider: 'openai',
    providerAlias: null,
    endpoint: 'chat.completions',
    billed: true,
    isBilledElsewhere: false,
    requestedAtMs: Date.UTC(2026, 10, 28, 12),
    model: null,
    modelRequested: null,
    serviceTier: null,
    speed: null,
    inferenceGeo: null,
    region: null,
    isBatch: false,
    outcome: 'ok',
    status: 200,
    errorType: null,
    usage: null,
    usageSource: 'provider',
    ...changes,
  };
}

export function usageOf(classes: ClassQuantities): TokenUsage {
  return { classes, reasoning: null, native: {} };
}
