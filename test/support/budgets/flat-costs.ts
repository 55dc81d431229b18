/** Costs of calls at one rate for each byte of prompt and each token of output, for tests that are not about prices. */
import type { CallCosts } from '../../../src/pricing/greatest/call-costs.ts';

/** Pico-dollars for a token. */
export const FLAT_RATES = { prompt: 1_000_000n, output: 3_000_000n } as const;

export const FLAT_COSTS: CallCosts = {
  greatestOf: (_accountId, { body }) => {
    if (!(body instanceof Buffer)) return { kind: 'unknown', why: 'unread-body' };
    const asked: { max_tokens?: number; max_output_tokens?: number } = JSON.parse(body.toString());
    const outputTokens = asked.max_tokens ?? asked.max_output_tokens;
    if (outputTokens === undefined) return { kind: 'unknown', why: 'no-maximum' };
    const amount = BigInt(body.length) * FLAT_RATES.prompt + BigInt(outputTokens) * FLAT_RATES.output;
    return { kind: 'known', amount, outputLimit: 'stated', promptTokens: body.length, outputTokens };
  },
  settledOf: (_accountId, _begin, { usage, outcome, flags }) => {
    if (outcome === 'upstream_error') return { kind: 'exact', amount: 0n };
    if (flags.includes('usage_in_turns')) return { kind: 'exact', amount: 0n };
    if (usage === null || flags.includes('tap_limit')) return { kind: 'unknown', why: 'no-usage', knownAmount: 0n };
    const { input = 0, output = 0 } = usage.classes;
    return { kind: 'exact', amount: BigInt(input) * FLAT_RATES.prompt + BigInt(output) * FLAT_RATES.output };
  },
};
