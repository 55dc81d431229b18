/** Lays the log of a gateway beside the ledger of the provider behind it: call by call, run by run and node by node. Pure. */
import { MAIN_AGENT } from '../../src/vocabulary/agent-path.ts';
import { formatUsd, type PicoUsd } from '../../src/vocabulary/usd.ts';
import { depthOf, judgeNodes } from './judge-nodes.ts';
import type { OwnIdCase } from './own-id-cases.ts';
import { costOf, describeCall, type Pair, pairCalls, type Row } from './pair-calls.ts';
import { KILLED_SESSION, listAgents, PARALLEL_SESSIONS, RESUMED_SESSION } from './session-script.ts';
import type { LedgerCall } from './spawning-provider.ts';

/** One run that has to be, as the ledger has it. */
export interface ExpectedRun {
  /** A session; with its agent, where each conversation is one. */
  readonly name: string;
  /** That of its first call, in which all others have to be. */
  readonly traceId: string | null;
  readonly pairs: readonly Pair[];
  readonly input: number;
  readonly output: number;
  readonly cost: PicoUsd;
}

export interface Judged {
  readonly wrong: readonly string[];
  readonly runs: readonly ExpectedRun[];
  /** Calls that are in the run and node in which they belong. */
  readonly placedCalls: number;
  readonly agents: number;
  /** Of the deepest agent; the main one is at 1. */
  readonly depth: number;
}

export interface Books {
  readonly ledger: readonly LedgerCall[];
  readonly rows: readonly Row[];
  /** What the programs said of their own sessions. */
  readonly sessionIds: ReadonlyMap<string, string>;
}

const SESSIONS = [...PARALLEL_SESSIONS, KILLED_SESSION];

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

export function judgeSessions(one: OwnIdCase, { ledger, rows, sessionIds }: Books): Judged {
  const { pairs, wrong } = pairCalls(ledger, rows);
  const named = Map.groupBy(pairs, ({ call }) => nameRun(call, one));
  const runs = [...named].flatMap(([name, own]) => (name === null ? [] : [makeRun(name, own)]));
  const placed = runs.map((run) => placeCalls(one, run));
  const agents = new Set(pairs.map(({ call: { place } }) => `${place?.session} ${place?.agent}`));
  return {
    wrong: [
      ...wrong,
      ...judgeScript(one, ledger),
      ...runs.flatMap((run) => judgeId(one, run, runs, sessionIds.get(run.name))),
      ...placed.flatMap((judged) => judged.wrong),
    ],
    runs,
    placedCalls: sum(runs.map((run) => run.pairs.length)) - sum(placed.map(({ lost }) => lost.size)),
    agents: agents.size,
    depth: Math.max(0, ...pairs.map(depthOf)),
  };
}

/** Null for a call that does not say whose it is. */
function nameRun({ place }: LedgerCall, { tells, losesRun }: OwnIdCase): string | null {
  if (place === null) return null;
  if (tells === 'sessions') return place.session;
  const isOther = losesRun === true && place.message > 1 && place.agent === MAIN_AGENT;
  return `${place.session} ${place.agent}${isOther ? ', resumed' : ''}`;
}

function makeRun(name: string, pairs: readonly Pair[]): ExpectedRun {
  const traceId = pairs[0]?.row['trace_id'];
  return {
    name,
    traceId: typeof traceId === 'string' ? traceId : null,
    pairs,
    input: sum(pairs.map(({ call }) => call.tokens?.input ?? 0)),
    output: sum(pairs.map(({ call }) => call.tokens?.output ?? 0)),
    cost: pairs.reduce((all, { call }) => all + costOf(call), 0n),
  };
}

/** That the sessions went as the script wants: else nothing was tried. */
function judgeScript(one: OwnIdCase, ledger: readonly LedgerCall[]): readonly string[] {
  const wrong = [];
  if (ledger.filter(({ isCut }) => isCut).length !== 1) wrong.push('not one answer was cut');
  for (const session of SESSIONS) {
    const own = ledger.flatMap(({ place }) => (place?.session === session ? [place] : []));
    const found = [...new Set(own.map(({ agent }) => agent))].sort().join(' ');
    const expected = listAgents(session, one.tools).join(' ');
    if (found !== expected) wrong.push(`session ${session} had the agents ${found}, not ${expected}`);
    const isResumed = own.some(({ message }) => message > 1);
    if (isResumed !== (session === RESUMED_SESSION)) wrong.push(`session ${session} was resumed: ${isResumed}`);
  }
  const strangers = ledger.filter((call) => nameRun(call, one) === null);
  return [...wrong, ...strangers.map((call) => `${describeCall(call)} says nothing of its session`)];
}

/** By what the program says of its session, as far as it lives to say so. */
function judgeId(
  { tells, client }: OwnIdCase,
  { name, traceId }: ExpectedRun,
  runs: readonly ExpectedRun[],
  said: string | undefined,
): readonly string[] {
  const isOwn = runs.filter((other) => other.traceId === traceId).length === 1;
  const start = tells === 'sessions' ? `${client}:` : 'tool_call:';
  const isNamed = tells === 'conversations' || said === undefined || traceId === `${client}:${said}`;
  return isOwn && isNamed && traceId?.startsWith(start) === true
    ? []
    : [`${name} is the run ${traceId}, which is its own: ${isOwn}; the program calls its session ${said}`];
}

function placeCalls(
  { tells, opensOutsideTurn }: OwnIdCase,
  { name, traceId, pairs }: ExpectedRun,
): { readonly wrong: readonly string[]; readonly lost: ReadonlySet<Pair> } {
  const elsewhere = pairs.filter(({ row }) => traceId === null || row['trace_id'] !== traceId);
  const wrong = elsewhere.map(
    ({ call, row }) => `${describeCall(call)} is in the run ${row['trace_id']}, not ${traceId}`,
  );
  if (tells === 'conversations') return { wrong, lost: new Set(elsewhere) };
  const nodes = judgeNodes(name, pairs, opensOutsideTurn === true);
  return { wrong: [...wrong, ...nodes.wrong], lost: new Set([...elsewhere, ...nodes.lost]) };
}

/** What the gateway says of a run as a whole. */
export function judgeSums({ name, pairs, input, output, cost }: ExpectedRun, run: Row): readonly string[] {
  const said = [run['calls'], run['input_tokens'], run['output_tokens'], run['total_cost']].join(', ');
  const expected = [pairs.length, input, output, formatUsd(cost)].join(', ');
  return said === expected ? [] : [`the run of ${name} has (calls, in, out, cost) ${said}; the ledger ${expected}`];
}
