/** What an answer has said of its usage up to some point, and what that costs: the provider's own arithmetic. Pure. */
import { type CallPlan, RATES } from '../kill/call-plan.ts';
import type { SessionTurn } from '../kill/session-plan.ts';
import type { CountedRow } from '../kill/tally.ts';

interface Counts {
  readonly inputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly outputTokens: number | null;
}

/** What has been said by some point of an answer. */
export interface Said extends Counts {
  readonly name: string;
  /** Pico-dollars. */
  readonly cost: bigint;
}

const NOTHING: Said = { name: 'nothing', inputTokens: null, cacheReadTokens: null, outputTokens: null, cost: 0n };

/** All that a call can have said, in the order in which its answer gets there. */
export function listSaid(plan: CallPlan): readonly [Said, ...Said[]] {
  if (plan.session !== undefined) return listTurnsSaid(plan.session.turns);
  const { expected, contentType } = plan;
  const all = withCost('all', plan, expected);
  if (expected.provider !== 'anthropic' || contentType !== 'text/event-stream') return [NOTHING, all];
  // What `message_start` says of its output is no count.
  return [NOTHING, { ...withCost('start', plan, { ...expected, outputTokens: 0 }), outputTokens: null }, all];
}

/** A session has said the sum of the turns that are over. */
function listTurnsSaid(turns: readonly SessionTurn[]): [Said, ...Said[]] {
  const said: [Said, ...Said[]] = [NOTHING];
  for (const [index, turn] of turns.entries()) {
    const before = said[index] ?? NOTHING;
    said.push({
      name: `${index + 1} turns`,
      inputTokens: (before.inputTokens ?? 0) + turn.inputTokens,
      cacheReadTokens: (before.cacheReadTokens ?? 0) + turn.cacheReadTokens,
      outputTokens: (before.outputTokens ?? 0) + turn.outputTokens,
      cost: before.cost + turn.cost,
    });
  }
  return said;
}

function withCost(name: string, { expected }: CallPlan, counts: { readonly [key in keyof Counts]: number }): Said {
  const { inputTokens, cacheReadTokens, outputTokens } = counts;
  const rates = RATES[expected.provider];
  const cost =
    BigInt(inputTokens) * rates.input + BigInt(cacheReadTokens) * rates.cacheRead + BigInt(outputTokens) * rates.output;
  return { name, inputTokens, cacheReadTokens, outputTokens, cost };
}

/** How far it had got, as an index of `listSaid`. `text`: the provider's bytes, or those that the client got of them. */
export function readSaid(plan: CallPlan, text: string): number {
  if (plan.session !== undefined) return countToldTurns(plan, text.length);
  const all = listSaid(plan).length - 1;
  if (plan.contentType !== 'text/event-stream') return text.length > 0 && isWholeJson(text) ? all : 0;
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  if (plan.expected.provider === 'anthropic') {
    if (whole.includes('event: message_delta')) return all;
    return whole.includes('event: message_start') ? 1 : 0;
  }
  // The client's copy may lack the usage that was asked for; then the ending stands behind it.
  return whole.includes('"usage":{') || whole.includes('data: [DONE]') ? all : 0;
}

/** The finish reason or more was among it: whoever has read that has had its answer. */
export function hasAnswer(plan: CallPlan, text: string): boolean {
  if (plan.session !== undefined || plan.contentType !== 'text/event-stream') return false;
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  return whole.includes('"finish_reason":"') || whole.includes('event: message_delta');
}

/** For a session; as an index of `listSaid`. */
export function countToldTurns({ session }: CallPlan, bytes: number): number {
  return (session?.turns ?? []).filter(({ toldAtBytes }) => toldAtBytes <= bytes).length;
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** In pico-dollars. */
export function costOf(plan: CallPlan, index: number): bigint {
  return listSaid(plan)[index]?.cost ?? 0n;
}

/** An index of `listSaid`; null when the row says what nobody said. */
export function readRowSaid(plan: CallPlan, row: CountedRow): number | null {
  const found = listSaid(plan).findLastIndex(
    (said) =>
      said.inputTokens === row.inputTokens &&
      said.cacheReadTokens === row.cacheReadTokens &&
      said.outputTokens === row.outputTokens,
  );
  return found === -1 ? null : found;
}
