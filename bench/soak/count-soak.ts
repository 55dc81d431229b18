/** Adds up what a soak has shown: clients and provider against the database. Pure. */
import type { CallPlan } from '../kill/call-plan.ts';
import type { DatabaseCount } from '../kill/gateway-database.ts';
import type { LedgerProvider } from '../kill/ledger-provider.ts';
import type { ClientCall } from '../kill/load.ts';
import type { CountedRow } from '../kill/tally.ts';
import {
  type CallFacts,
  type Disturbance,
  hasWrongBytes,
  isDisturbedBy,
  judgeClient,
  judgeRow,
  needsRow,
  wasForgotten,
  wasIdleClosed,
  wasRaced,
} from './judge-call.ts';
import { costOf, listSaid, readRowSaid, readSaid } from './usage-said.ts';

const GRAVEST_FIRST = ['kill', 'forgetful exit', 'rolling'] as const;

/** Pico-dollars, by provider. */
type Sums = Readonly<Record<string, bigint>>;

export interface SoakCount {
  readonly calls: number;
  readonly whole: number;
  readonly cut: number;
  readonly aborted: number;
  /** Answers that the gateway gave itself. */
  readonly refused: number;
  readonly reached: number;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Websockets, which are among the calls and the rows. */
  readonly sessions: number;
  readonly sessionOutcomes: Readonly<Record<string, number>>;
  /** 502 because the provider closed an idle connection in the instant in which it was used. */
  readonly idleClosed: number;
  /** Cut in the instant in which an idle connection was closed by a rolling restart. */
  readonly raced: number;
  /** Taken by release 0.1.0 when it had closed its spool. */
  readonly forgotten: number;
  readonly lost: readonly string[];
  readonly duplicates: readonly string[];
  readonly repeated: readonly string[];
  readonly alteredBytes: readonly string[];
  readonly wrongAtClient: readonly string[];
  readonly wrongRows: readonly string[];
  readonly unknownRows: readonly string[];
  /** The sum over rows with outcome `ok`, and over those calls by the provider's own arithmetic. */
  readonly costs: Sums;
  readonly ledgerCosts: Sums;
  /** What is known to be owed for all other rows, and by what their streams had said. */
  readonly partialCost: bigint;
  readonly ledgerPartialCost: bigint;
}

export interface SoakNotes {
  readonly calls: readonly ClientCall[];
  readonly provider: Pick<LedgerProvider, 'ledger' | 'written'>;
  readonly database: DatabaseCount;
  readonly disturbances: readonly Disturbance[];
  readonly planOf: (n: number) => CallPlan;
  /** Websockets of which other bytes came to the provider than their client has sent. */
  readonly misread: ReadonlySet<string>;
}

export function countSoak({ calls, provider, database, disturbances, planOf, misread }: SoakNotes): SoakCount {
  const rowsById = Map.groupBy(database.rows, (row) => row.callId);
  const ids = new Set(calls.map(({ id }) => id));
  const facts = calls.map((call): CallFacts => {
    const found = disturbances.filter((one) => isDisturbedBy(call, one)).map(({ kind }) => kind);
    return {
      call,
      plan: planOf(call.n),
      reached: provider.ledger.get(call.id) ?? 0,
      written: provider.written.get(call.id) ?? '',
      wasMisread: misread.has(call.id),
      row: rowsById.get(call.id)?.[0] ?? null,
      disturbance: GRAVEST_FIRST.find((kind) => found.includes(kind)) ?? null,
      isOnFullDisk: found.includes('full disk'),
    };
  });
  const count = (test: (one: CallFacts) => boolean) => facts.filter(test).length;
  const list = (test: (one: CallFacts) => boolean) => facts.filter(test).map(describe);
  const tell = (judge: (one: CallFacts) => string | null) =>
    facts.flatMap((one) => {
      const fault = judge(one);
      return fault === null ? [] : [`${describe(one)}: ${fault}`];
    });
  const stored = facts.flatMap((one) => (one.row === null ? [] : [{ ...one, row: one.row }]));
  const ok = stored.filter(({ row }) => row.outcome === 'ok');
  const other = stored.filter(({ row }) => row.outcome !== 'ok');
  return {
    calls: calls.length,
    whole: count(({ call }) => call.ending === 'complete' && call.gatewayError === null),
    cut: count(({ call }) => call.ending === 'cut'),
    aborted: count(({ call }) => call.ending === 'aborted'),
    refused: count(({ call }) => call.gatewayError !== null),
    reached: count(({ reached }) => reached > 0),
    rows: database.rowCount,
    outcomes: countOutcomes(database.rows),
    sessions: count(({ plan }) => plan.session !== undefined),
    sessionOutcomes: countOutcomes(stored.filter(({ plan }) => plan.session !== undefined).map(({ row }) => row)),
    idleClosed: count(wasIdleClosed),
    raced: count((one) => (one.disturbance === 'rolling' || one.disturbance === 'forgetful exit') && wasRaced(one)),
    forgotten: count(wasForgotten),
    lost: list((one) => one.row === null && needsRow(one)),
    duplicates: [...rowsById].filter(([, found]) => found.length > 1).map(([id]) => id),
    repeated: list(({ reached }) => reached > 1),
    alteredBytes: list(hasWrongBytes),
    wrongAtClient: tell(judgeClient),
    wrongRows: tell((one) => (one.row === null ? null : judgeRow(one, one.row))),
    unknownRows: [...rowsById.keys()].filter((id) => !ids.has(id)),
    costs: sumByProvider(ok.map(({ row }) => [row.provider, row.totalCost ?? 0n])),
    ledgerCosts: sumByProvider(
      ok.map(({ plan, written }) => [plan.expected.provider, costOf(plan, readSaid(plan, written))]),
    ),
    partialCost: other.reduce((sum, { row }) => sum + (row.knownCost ?? 0n), 0n),
    ledgerPartialCost: other.reduce((sum, { plan, row }) => sum + costOf(plan, saidOfRow(plan, row)), 0n),
  };
}

/** What its row says that it said, which is judged call by call: a reset may have destroyed what was written last. */
function saidOfRow(plan: CallPlan, row: CountedRow): number {
  return readRowSaid(plan, row) ?? listSaid(plan).length - 1;
}

function describe({ call, plan, reached, row, disturbance, isOnFullDisk }: CallFacts): string {
  const trouble = plan.trouble === undefined ? '' : `, provider ${JSON.stringify(plan.trouble).slice(0, 120)}`;
  const abort = plan.abort === undefined ? '' : `, client ${JSON.stringify(plan.abort)}`;
  const how = `${disturbance === null ? '' : `, during a ${disturbance}`}${isOnFullDisk ? ', on a full disk' : ''}`;
  const at = `${(call.startedMs / 1_000).toFixed(3)} s + ${Math.round(call.durationMs)} ms`;
  return `${call.id} (${plan.kind}${trouble}${abort}${how}; ${call.ending} ${call.status}, ${call.wasReused ? 'kept' : 'new'} connection, reached ${reached}, row ${row?.outcome ?? 'none'}, at ${at})`;
}

function countOutcomes(rows: readonly CountedRow[]): Record<string, number> {
  const outcomes: Record<string, number> = {};
  for (const { outcome } of rows) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return outcomes;
}

function sumByProvider(costs: readonly (readonly [string, bigint])[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const [provider, cost] of costs) sums[provider] = (sums[provider] ?? 0n) + cost;
  return sums;
}
