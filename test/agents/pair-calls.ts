/** Finds each call of the provider's ledger in the log of the gateway before it. Pure. */
import type { PicoUsd } from '../../src/vocabulary/usd.ts';
import type { LedgerCall } from './spawning-provider.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A call in both books. */
export interface Pair {
  readonly call: LedgerCall;
  readonly row: Row;
}

/** Picodollars per token. Written down here, so that the costs in the log are not compared with themselves. */
const PRICES: readonly (readonly [model: RegExp, input: PicoUsd, output: PicoUsd])[] = [
  [/^claude-haiku-4-5/, 1_000_000n, 5_000_000n],
  [/^gpt-5\.1$/, 1_250_000n, 10_000_000n],
  [/^gpt-6-luna$/, 100_000n, 500_000n],
  [/^gemini-2\.5-flash$/, 300_000n, 2_500_000n],
];

const isConnection = ({ id, connection_id: connection }: Row) => id === connection;

/** Of what the answer said; what it did not say costs nothing here. */
export function costOf({ model, tokens }: LedgerCall): PicoUsd {
  if (tokens === null) return 0n;
  const [, input, output] = PRICES.find(([pattern]) => pattern.test(model ?? '')) ?? [];
  if (input === undefined || output === undefined) throw new Error(`the ledger has no price for ${model}`);
  return BigInt(tokens.input) * input + BigInt(tokens.output) * output;
}

export function describeCall({ place, what, tokens }: LedgerCall): string {
  const whose = place === null ? 'nobody' : `${place.session} ${place.agent} ${place.message}`;
  return `${what} of ${whose} (${tokens?.input ?? 'no'} tokens in)`;
}

/** By tokens, which no two calls share; a connection by its messages, and an answer that was cut before its usage by its end. */
function findRow(call: LedgerCall, ledger: readonly LedgerCall[], rows: readonly Row[]): Row | undefined {
  const { tokens, kind, isCut } = call;
  if (tokens !== null) return rows.find((row) => row['input_tokens'] === tokens.input && !isConnection(row));
  if (kind === 'connection') {
    const index = ledger.indexOf(call);
    const turn = ledger.find(({ connection, tokens: said }) => connection === index && said !== null);
    const found = turn === undefined ? undefined : findRow(turn, ledger, rows);
    return found === undefined ? undefined : rows.find(({ id }) => id === found['connection_id']);
  }
  const isLeft = (row: Row) => row['outcome'] === 'client_closed' && row['input_tokens'] === null;
  return isCut ? rows.find((row) => isLeft(row) && !isConnection(row)) : undefined;
}

/** And what is wrong with the two as such: neither may have a call that the other lacks. */
export function pairCalls(
  ledger: readonly LedgerCall[],
  rows: readonly Row[],
): { readonly pairs: readonly Pair[]; readonly wrong: readonly string[] } {
  const pairs: Pair[] = [];
  const wrong = rows.length === ledger.length ? [] : [`the log has ${rows.length} calls, the ledger ${ledger.length}`];
  for (const call of ledger) {
    const row = findRow(call, ledger, rows);
    if (row === undefined || pairs.some((pair) => pair.row === row))
      wrong.push(`${describeCall(call)} is not in the log`);
    else pairs.push({ call, row });
  }
  return { pairs, wrong: [...wrong, ...pairs.flatMap(judgePair)] };
}

/** A connection has no usage, and one of a program that was killed ends with it. */
function judgePair({ call, row }: Pair): readonly string[] {
  if (call.kind === 'connection') return [];
  const wrong = [];
  const { output_tokens: output, outcome } = row;
  if ((output ?? 0) !== (call.tokens?.output ?? 0))
    wrong.push(`${describeCall(call)} has ${output} tokens out, not ${call.tokens?.output}`);
  if (outcome !== (call.isCut ? 'client_closed' : 'ok')) wrong.push(`${describeCall(call)} ended as ${outcome}`);
  return wrong;
}
