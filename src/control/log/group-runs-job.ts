/**
 * The job that makes runs of calls that were stored without one, by the sessions that their clients name, and takes such
 * runs apart again. It walks over the time in windows that grow while there is little in them.
 */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { z } from 'zod';
import { agentSpanPath, agentsOf, agentTraceId } from '../../vocabulary/agent-path.ts';
import { GROUPED_SOURCE } from '../../vocabulary/run-sources.ts';
import { CHUNK_MS, type Job, type JobKind, type Progress } from '../jobs/job.ts';
import { insertJob } from '../jobs/job-store.ts';
import { errorCode, UNIQUE_VIOLATION } from '../store/database-error.ts';
import { inTransaction } from '../store/pool.ts';
import { lockLog } from './lock-log.ts';
import { parseLogFilter, parseTime } from './log-filter.ts';
import { exactCondition } from './log-filter-sql.ts';
import { logConditions } from './log-scope.ts';
import { type CallMove, moveCalls, type PlaceOfCall } from './move-calls.ts';
import { NO_PROMOTED_KEYS } from './promoted-keys.ts';
import { allOf, type Condition, compileSql } from './run-sql.ts';
import { AGENT_ROW_COLUMNS, type AgentRow, settleAgents } from './settle-agents.ts';

const KIND = 'group_runs';
export const GROUP_ACTIONS = ['group', 'ungroup'] as const;

const MINUTE_MS = 60_000;
const LONGEST_WINDOW_MS = 7 * 86_400_000;
const MAX_CALLS = 2_000;
/** A bound on the cursor; beyond it the result says "at least". */
const MAX_RUNS = 5_000;

const Input = z.object({
  action: z.enum(GROUP_ACTIONS),
  from: z.string().nullable(),
  to: z.string().nullable(),
  filters: z.array(z.string()),
  dry_run: z.boolean(),
});
export type GroupInput = Readonly<z.infer<typeof Input>>;

const Cursor = z.object({
  at: z.string(),
  /** The last call of a window with more calls than a chunk takes. */
  after: z.string().nullable(),
  to: z.string(),
  window_ms: z.number(),
  runs: z.array(z.string()),
});
type Cursor = Readonly<z.infer<typeof Cursor>>;

/** Null while another is under way. */
export async function requestGrouping(pool: pg.Pool, accountId: number, input: GroupInput): Promise<number | null> {
  const what = input.action === 'group' ? 'Make runs of the sessions of agents' : 'Take such runs apart';
  try {
    return await inTransaction(pool, (client) =>
      insertJob(client, {
        accountId,
        kind: KIND,
        subject: input.dry_run ? 'group_runs:dry_run' : 'group_runs',
        title: input.dry_run ? `Dry run: ${what}` : what,
        unit: 'calls',
        input: { ...input, filters: [...input.filters] },
      }),
    );
  } catch (error) {
    if (errorCode(error) === UNIQUE_VIOLATION) return null;
    throw error;
  }
}

export function createGroupRunsKind(): JobKind {
  return {
    kind: KIND,
    runChunk: async (client, job) => {
      const input = Input.parse(job.input);
      if (job.cursor === null) return begin(client, job, input);
      return walk(client, job, input, Cursor.parse(job.cursor));
    },
  };
}

async function begin(client: pg.ClientBase, job: Job, { from, to }: GroupInput): Promise<Progress> {
  const { rows } = await client.query<{ from: Date; to: Date }>(
    `select coalesce(least(min(requested_at), now()), now()) as "from", now() as "to" from llm_requests where account_id = $1`,
    [job.accountId],
  );
  const first = rows[0]?.from ?? new Date(0);
  const asked = from === null ? first : new Date(Math.max(Date.parse(from), first.getTime()));
  const cursor: Cursor = {
    at: asked.toISOString(),
    after: null,
    to: to ?? (rows[0]?.to ?? first).toISOString(),
    window_ms: MINUTE_MS,
    runs: [],
  };
  return {
    phase: 'looking for sessions',
    cursor,
    done: 0,
    total: null,
    result: null,
    pauseMs: 0,
  };
}

async function walk(client: pg.ClientBase, job: Job, input: GroupInput, cursor: Cursor): Promise<Progress> {
  const startedMs = performance.now();
  const [at, end] = [Date.parse(cursor.at), Date.parse(cursor.to)];
  const until = Math.min(at + cursor.window_ms, end);
  const calls = at >= end ? [] : await readCalls(client, job.accountId, input, cursor, new Date(until));
  const moves = calls.map(
    (row): CallMove => ({ id: row.id, requestedAt: row.requested_at, from: row, to: placeOf(row, input) }),
  );
  const runs = new Set(cursor.runs);
  for (const { from, to } of moves) {
    const trace = to.trace_id ?? from.trace_id;
    if (trace !== null && runs.size < MAX_RUNS) runs.add(trace);
  }
  let moved = moves.length;
  if (!input.dry_run && moves.length > 0) {
    await lockLog(client);
    moved = await moveCalls(client, moves);
    const grouped = moves.map(({ to }, index) => ({ ...calls[index], ...to })).filter(isOfSubAgent);
    if (input.action === 'group') await settleAgents(client, job.accountId, grouped);
  }
  const isFull = calls.length === MAX_CALLS;
  const last = isFull ? calls.at(-1) : undefined;
  const next = {
    at: (last?.requested_at ?? new Date(until)).toISOString(),
    after: last?.id ?? null,
    to: cursor.to,
    window_ms: nextWindow(cursor.window_ms, performance.now() - startedMs),
    runs: [...runs],
  };
  const done = job.done + moved;
  const isEnd = !isFull && until >= end;
  return {
    phase: isEnd ? 'done' : `looked at calls before ${next.at.slice(0, 16)}`,
    cursor: next,
    done,
    total: isEnd ? done : null,
    result: isEnd ? { action: input.action, dry_run: input.dry_run, calls: done, runs: runs.size } : null,
    ...(calls.length === 0 ? { pauseMs: 0 } : {}),
  };
}

function nextWindow(windowMs: number, tookMs: number): number {
  if (tookMs > CHUNK_MS) return Math.max(MINUTE_MS, windowMs / 2);
  return tookMs < CHUNK_MS / 3 ? Math.min(LONGEST_WINDOW_MS, windowMs * 4) : windowMs;
}

function isOfSubAgent(row: Partial<AgentRow>): row is AgentRow {
  return row.agent_path?.includes('/') === true;
}

/** Calls that the window has left, the oldest first. */
async function readCalls(
  client: pg.ClientBase,
  accountId: number,
  input: GroupInput,
  cursor: Cursor,
  until: Date,
): Promise<readonly AgentRow[]> {
  const wanted: Condition =
    input.action === 'group'
      ? sql<SqlBool>`trace_id is null and agent_session is not null and client is not null`
      : sql<SqlBool>`trace_source = ${GROUPED_SOURCE}`;
  const scope = {
    accountId,
    filters: input.filters.map(parseLogFilter),
    search: null,
    from: parseTime(cursor.at),
    to: until,
    excludeRuns: false,
  };
  const conditions = [...logConditions(scope, NO_PROMOTED_KEYS, exactCondition), wanted];
  if (cursor.after !== null)
    conditions.push(sql<SqlBool>`(requested_at, id) > (${cursor.at}::timestamptz, ${cursor.after}::uuid)`);
  const { text, values } = compileSql(
    sql`select ${sql.raw(AGENT_ROW_COLUMNS)} from llm_requests where ${allOf(conditions)}
      order by requested_at, id limit ${MAX_CALLS}`,
  );
  const { rows } = await client.query<AgentRow>(text, values);
  return rows;
}

function placeOf(row: AgentRow, { action }: GroupInput): PlaceOfCall {
  const { client, agent_session: session, agent_path: path, agent_turn: agentTurn, span_path: spanPath } = row;
  const derived = path === null ? null : agentSpanPath(agentsOf(path), agentTurn);
  const place = { agent_session: session, agent_path: path };
  if (action === 'ungroup')
    return { ...place, trace_id: null, trace_source: null, span_path: spanPath === derived ? null : spanPath };
  return {
    ...place,
    trace_id: agentTraceId(client ?? '', session ?? ''),
    trace_source: GROUPED_SOURCE,
    span_path: spanPath ?? derived,
  };
}
