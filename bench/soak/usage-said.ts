/** What an answer has said of its usage up to some point, and what that costs: the provider's own arithmetic. Pure. */
import { type CallPlan, RATES } from '../kill/call-plan.ts';
import type { CountedRow } from '../kill/tally.ts';

/** In the order in which a stream gets there. `start`: what Anthropic's `message_start` reports. */
export const SAID = ['nothing', 'start', 'all'] as const;
export type Said = (typeof SAID)[number];

/** Anthropic's `message_start` counts one token of output. */
const OUTPUT_AT_START = 1;

/** `text`: the provider's bytes, or those that the client got of them. */
export function readSaid(plan: CallPlan, text: string): Said {
  if (plan.contentType !== 'text/event-stream') return text.length > 0 && isWholeJson(text) ? 'all' : 'nothing';
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  if (plan.expected.provider === 'anthropic') {
    if (whole.includes('event: message_delta')) return 'all';
    return whole.includes('event: message_start') ? 'start' : 'nothing';
  }
  // The client's copy may lack the usage that was asked for; then the ending stands behind it.
  return whole.includes('"usage":{') || whole.includes('data: [DONE]') ? 'all' : 'nothing';
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Counts {
  readonly inputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly outputTokens: number | null;
}

export function countsOf(plan: CallPlan, said: Said): Counts {
  if (said === 'nothing') return { inputTokens: null, cacheReadTokens: null, outputTokens: null };
  const { inputTokens, cacheReadTokens, outputTokens } = plan.expected;
  return { inputTokens, cacheReadTokens, outputTokens: said === 'start' ? OUTPUT_AT_START : outputTokens };
}

/** In pico-dollars. */
export function costOf(plan: CallPlan, said: Said): bigint {
  const counts = countsOf(plan, said);
  const rates = RATES[plan.expected.provider];
  return (
    BigInt(counts.inputTokens ?? 0) * rates.input +
    BigInt(counts.cacheReadTokens ?? 0) * rates.cacheRead +
    BigInt(counts.outputTokens ?? 0) * rates.output
  );
}

/** Null when the row says what nobody said. */
export function readRowSaid(plan: CallPlan, row: CountedRow): Said | null {
  const found = SAID.findLast((said) => {
    const counts = countsOf(plan, said);
    return (
      counts.inputTokens === row.inputTokens &&
      counts.cacheReadTokens === row.cacheReadTokens &&
      counts.outputTokens === row.outputTokens
    );
  });
  return found ?? null;
}
