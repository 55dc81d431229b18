/** Counts what the clients and the provider know against what the database says. Pure. */
import type { CallPlan, ExpectedRow } from './call-plan.ts';
import type { ClientCall } from './load.ts';

/** A row of `llm_requests`, as far as it is compared; the cost in pico-dollars. */
export interface CountedRow {
  readonly callId: string;
  readonly outcome: string;
  readonly closedBefore: string | null;
  readonly status: number | null;
  readonly provider: string;
  readonly inputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalCost: bigint | null;
  /** What is known to be owed, also where more may be. */
  readonly knownCost: bigint | null;
  readonly traceId: string | null;
  readonly durationMs: number | null;
  /** Null where it is not known when it ended. */
  readonly endsBeforeItBegins: boolean | null;
}

export interface Tally {
  readonly calls: number;
  readonly complete: number;
  readonly cut: number;
  /** Calls of which the client saw an error: a cut, no answer, or a status other than 200. */
  readonly clientErrors: number;
  /** Whole answers that were not the provider's bytes. */
  readonly wrongBytes: number;
  /** Calls that reached the provider. */
  readonly reached: number;
  /** Calls that reached it more than once. */
  readonly repeated: number;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The client got the last byte, and there is no row. */
  readonly lost: readonly string[];
  /** The call reached the provider, and there is no row. */
  readonly unlogged: readonly string[];
  readonly duplicates: readonly string[];
  /** A row that does not say what it must. */
  readonly wrongRows: readonly string[];
  /** Rows of calls that nobody made. */
  readonly unknownRows: readonly string[];
  readonly slowestMs: number;
}

/** What a call that was cut may be: killed in the middle, or written down just before its last byte was sent. */
const OUTCOMES_OF_A_CUT = ['interrupted', 'ok', 'client_closed', 'shutdown_cut'];

export function tally(
  calls: readonly ClientCall[],
  ledger: ReadonlyMap<string, number>,
  rows: readonly CountedRow[],
  planOf: (n: number) => CallPlan,
): Tally {
  const rowsById = Map.groupBy(rows, (row) => row.callId);
  const ids = new Set(calls.map((call) => call.id));
  const complete = calls.filter((call) => call.ending === 'complete');
  const reached = calls.filter((call) => ledger.has(call.id));
  const outcomes: Record<string, number> = {};
  for (const row of rows) outcomes[row.outcome] = (outcomes[row.outcome] ?? 0) + 1;
  const without = (list: readonly ClientCall[]) => list.filter(({ id }) => !rowsById.has(id)).map(({ id }) => id);
  return {
    calls: calls.length,
    complete: complete.length,
    cut: calls.length - complete.length,
    clientErrors: calls.filter((call) => call.ending !== 'complete' || call.status !== 200).length,
    wrongBytes: complete.filter((call) => call.status === 200 && !call.isRight).length,
    reached: reached.length,
    repeated: reached.filter((call) => (ledger.get(call.id) ?? 0) > 1).length,
    rows: rows.length,
    outcomes,
    lost: without(complete),
    unlogged: without(reached),
    duplicates: [...rowsById].filter(([, found]) => found.length > 1).map(([id]) => id),
    wrongRows: calls.flatMap((call) => {
      const [row] = rowsById.get(call.id) ?? [];
      const fault = row === undefined ? null : readFault(call, row, planOf(call.n).expected);
      return fault === null ? [] : [`${call.id}: ${fault}`];
    }),
    unknownRows: [...rowsById.keys()].filter((id) => !ids.has(id)),
    slowestMs: Math.round(complete.reduce((slowest, call) => Math.max(slowest, call.durationMs), 0)),
  };
}

function readFault(call: ClientCall, row: CountedRow, expected: ExpectedRow): string | null {
  if (row.provider !== expected.provider) return `provider ${row.provider}`;
  if (row.traceId !== expected.traceId) return `trace id ${row.traceId}`;
  // A refusal by the gateway is counted as the client's error, and its row is not one of a whole call.
  if (call.ending === 'complete' && call.status !== 200) return null;
  if (row.outcome === 'ok') return readUsageFault(row, expected);
  if (call.ending === 'complete') return `outcome ${row.outcome} of a whole answer`;
  return OUTCOMES_OF_A_CUT.includes(row.outcome) ? null : `outcome ${row.outcome} of a cut answer`;
}

function readUsageFault(row: CountedRow, expected: ExpectedRow): string | null {
  if (row.status !== 200) return `status ${row.status}`;
  if (row.inputTokens !== expected.inputTokens) return `${row.inputTokens} input tokens`;
  if (row.cacheReadTokens !== expected.cacheReadTokens) return `${row.cacheReadTokens} tokens read from the cache`;
  if (row.outputTokens !== expected.outputTokens) return `${row.outputTokens} output tokens`;
  if (row.totalCost !== expected.totalCost) return `a cost of ${row.totalCost} instead of ${expected.totalCost}`;
  return null;
}

/** Everything of a tally that must be zero in any case. */
export function faultsOf(result: Tally): string[] {
  const lists = {
    'lost (the client had the last byte)': result.lost,
    'reached the provider and are not in the log': result.unlogged,
    'in the log more than once': result.duplicates,
    'with a wrong row': result.wrongRows,
    'in the log and made by nobody': result.unknownRows,
  };
  const faults = Object.entries(lists).flatMap(([what, ids]) =>
    ids.length === 0 ? [] : [`${ids.length} calls ${what}: ${ids.slice(0, 5).join('; ')}`],
  );
  if (result.wrongBytes > 0) faults.push(`${result.wrongBytes} answers with other bytes than the provider's`);
  if (result.repeated > 0) faults.push(`${result.repeated} calls that were sent to the provider more than once`);
  return faults;
}
