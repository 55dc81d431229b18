/**
 * Puts calls that continue another call's answer into its run. The proxy knows one answer back only, so it names the run after
 * that; the shipper asks after each batch what is stored of the answers before, and moves what named its run after an answer
 * whose call came to the log since, whatever order and node they come from.
 */
import type pg from 'pg';
import { chainTraceId, firstAnswerOf } from '../../vocabulary/answer-chain.ts';
import { CHAIN_SOURCE } from '../../vocabulary/run-sources.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import { lockLog } from './lock-log.ts';
import { type CallMove, moveCalls, type PlaceOfCall } from './move-calls.ts';

/** OpenAI keeps answers for so long. */
const LOOK_BACK = '30 days';
/** What is stored is in its chain's run, so that mostly two are enough. */
const MAX_LEVELS = 8;
const MAX_BELOW = 10_000;
/** An advisory lock, the same in every version. */
const CHAINS_LOCK = 7_461_021;

export type ChainRow = Pick<LlmRequestRow, 'id' | 'requested_at' | 'answer_id'> & PlaceOfCall;

const COLUMNS = `id, requested_at, answer_id, trace_id, trace_source, span_path, agent_session, agent_path`;

/**
 * $1: account; $2: answers; $3: no older calls than this, and the time before. Of an id that was given twice (a stand-in
 * does that) the first call counts, which comes last.
 */
const GIVEN = `
  select ${COLUMNS} from llm_requests
  where account_id = $1 and requested_at >= $3::timestamptz - interval '${LOOK_BACK}' and answer_id = any($2::text[])
  order by requested_at desc, id desc`;

/** $1: account; $2: runs that are named after answers; $3: as above; $4: at most so many. */
const FOLLOWING = `
  select ${COLUMNS} from llm_requests
  where account_id = $1 and requested_at >= $3::timestamptz - interval '${LOOK_BACK}' and trace_id = any($2::text[])
    and trace_source = '${CHAIN_SOURCE}'
  limit $4`;

/** By the answer that each was given. */
type Given = Map<string, ChainRow>;

function isFollowing({ trace_source: source }: PlaceOfCall): boolean {
  return source === CHAIN_SOURCE;
}

/** The calls whose answers these calls continue, and so on upwards. */
async function readGiven(
  client: pg.ClientBase,
  accountId: number,
  calls: readonly ChainRow[],
  fromMs: number,
): Promise<Given> {
  const given: Given = new Map();
  const asked = new Set<string>();
  let wanted = new Set(
    calls.flatMap((call) => [...namesOf(call), ...(call.answer_id === null ? [] : [call.answer_id])]),
  );
  for (let level = 0; level < MAX_LEVELS && wanted.size > 0; level += 1) {
    for (const name of wanted) asked.add(name);
    const { rows } = await client.query<ChainRow>(GIVEN, [accountId, [...wanted], new Date(fromMs)]);
    for (const row of rows) if (row.answer_id !== null) given.set(row.answer_id, row);
    wanted = new Set(rows.flatMap(namesOf).filter((name) => !asked.has(name)));
  }
  return given;
}

/** The answer that a call's run is named after. */
function namesOf(row: PlaceOfCall): readonly string[] {
  const name = isFollowing(row) && row.trace_id !== null ? firstAnswerOf(row.trace_id) : null;
  return name === null ? [] : [name];
}

/** The run of the call that was given the answer, and the source of those who follow it. */
function runOf(answerId: string, given: Given): string {
  const seen = new Set<string>();
  let first = answerId;
  for (;;) {
    seen.add(first);
    const row = given.get(first);
    if (row === undefined || row.trace_id === null) return chainTraceId(first);
    const [before] = namesOf(row);
    if (before === undefined) return row.trace_id;
    // A chain's own first call is in the run that is named after its answer.
    if (seen.has(before)) return chainTraceId(before);
    first = before;
  }
}

function moveTo(row: ChainRow, traceId: string): readonly CallMove[] {
  if (row.trace_id === traceId) return [];
  const { id, requested_at: requestedAt, answer_id: _, ...from } = row;
  return [{ id, requestedAt, from, to: { ...from, trace_id: traceId, trace_source: CHAIN_SOURCE } }];
}

/** `calls` are stored calls that continue an answer, or were given one. Returns how many were moved. Runs in a transaction. */
export async function settleChains(
  client: pg.ClientBase,
  accountId: number,
  calls: readonly ChainRow[],
): Promise<number> {
  if (calls.length === 0) return 0;
  // Two nodes that look at the two halves of a chain at once would each miss what the other moves.
  await client.query('select pg_advisory_xact_lock($1)', [CHAINS_LOCK]);
  const fromMs = calls.reduce((least, row) => Math.min(least, row.requested_at.getTime()), Number.POSITIVE_INFINITY);
  const given = await readGiven(client, accountId, calls, fromMs);
  const answers = calls.flatMap(({ answer_id: answer }) => (answer === null ? [] : [answer]));
  const { rows: following } = await client.query<ChainRow>(FOLLOWING, [
    accountId,
    answers.map(chainTraceId),
    new Date(fromMs),
    MAX_BELOW,
  ]);
  const moves = new Map<string, CallMove>();
  // A batch that is stored for a second time says where its calls were before they were moved: what is read comes last.
  for (const row of [...calls, ...following]) {
    const [name] = namesOf(row);
    if (name === undefined) continue;
    for (const move of moveTo(row, runOf(name, given))) moves.set(row.id, move);
    const first = given.get(name);
    // A call that nobody has put into a run becomes the first of its chain's.
    if (first?.trace_id === null) for (const move of moveTo(first, chainTraceId(name))) moves.set(first.id, move);
  }
  if (moves.size === 0) return 0;
  await lockLog(client);
  return moveCalls(client, [...moves.values()]);
}
