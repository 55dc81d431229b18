/**
 * Puts calls of sub-agents where they belong, when the calls of other agents tell more of it than their own. The shipper
 * does it after each batch with calls of sub-agents, whatever order they come in and whichever node has them: it asks what
 * is stored of the agents above, and moves what was stored before of the agents below.
 */
import type pg from 'pg';
import { agentSpanPath, agentsOf, agentTraceId, MAIN_AGENT } from '../../vocabulary/agent-path.ts';
import { AGENT_SOURCE, GROUPED_SOURCE } from '../../vocabulary/run-sources.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import { AgentTree } from './agent-tree.ts';
import { lockLog } from './lock-log.ts';
import { type CallMove, moveCalls, type PlaceOfCall } from './move-calls.ts';

const DAY_MS = 86_400_000;
/** Of a client that tells of more than this, the rest stays where its own calls place it. */
const MAX_LEVELS = 8;
const MAX_BELOW = 10_000;

export type AgentRow = Pick<LlmRequestRow, 'id' | 'requested_at' | 'client' | 'agent_turn'> & PlaceOfCall;

export const AGENT_ROW_COLUMNS = `id, requested_at, client, agent_turn, trace_id, trace_source, span_path, agent_session,
  agent_path`;

/** The condition of the index `llm_requests_agents`, and its expression. */
const INDEXED = `(agent_session is not null or trace_source <> 'header')
  and agent_terms(agent, agent_session, agent_path, agent_turn, trace_source)`;

/** One call of each agent. $1: account; $2: their names; $3: no older calls. */
const ABOVE = `
  select found.agent_session as session, found.agent_path as path
  from unnest($2::text[]) name, lateral (
    select agent_session, agent_path from llm_requests
    where account_id = $1 and requested_at >= $3 and agent = name and agent_session is not null
      and ${INDEXED} && array[hashtext('agent=' || name)]
    limit 1
  ) found`;

/**
 * $1: account; $2: agents that may be sessions; $3: no older calls; $4: agents below others, and $5: the session of each;
 * $6: at most so many.
 */
const BELOW = `
  select ${AGENT_ROW_COLUMNS} from llm_requests
  where account_id = $1 and requested_at >= $3 and agent_session = any($2::text[])
    and ${INDEXED} && (select array_agg(hashtext('agent_session=' || name)) from unnest($2::text[]) name)
  union
  select ${AGENT_ROW_COLUMNS} from unnest($4::text[], $5::text[]) above (name, session), lateral (
    select * from llm_requests
    where account_id = $1 and requested_at >= $3 and agent_session = above.session
      and starts_with(agent_path, '${MAIN_AGENT}/' || above.name || '/')
      and ${INDEXED} && array[hashtext('agent_session=' || above.session)]
  ) below
  limit $6`;

/** What is stored of the agents above these calls' agents, as a tree with these calls in it. */
export async function readAgentTree(
  client: pg.ClientBase,
  accountId: number,
  calls: readonly AgentRow[],
  fromMs: number,
): Promise<AgentTree> {
  const tree = new AgentTree();
  const seen = new Set<string>();
  let places: readonly { readonly session: string | null; readonly path: string | null }[] = calls.map((row) => ({
    session: row.agent_session,
    path: row.agent_path,
  }));
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    const wanted = new Set<string>();
    for (const { session, path } of places) {
      if (session === null || path === null) continue;
      tree.add({ session, path });
      const [top] = agentsOf(path);
      for (const name of [session, top]) if (name !== undefined && !seen.has(name)) wanted.add(name);
    }
    if (wanted.size === 0) break;
    for (const name of wanted) seen.add(name);
    const found = await client.query<{ session: string; path: string }>(ABOVE, [
      accountId,
      [...wanted],
      new Date(fromMs - DAY_MS),
    ]);
    places = found.rows;
  }
  return tree;
}

/** Where the tree has the call's agent; null where the call is there. */
function placeAgent(row: AgentRow, tree: AgentTree): PlaceOfCall | null {
  const { agent_session: session, agent_path: path, client } = row;
  if (session === null || path === null || client === null) return null;
  const place = tree.place({ session, path });
  if (place.session === session && place.path === path) return null;
  const isOfSession = row.trace_source === AGENT_SOURCE || row.trace_source === GROUPED_SOURCE;
  const isDerived = row.span_path === agentSpanPath(agentsOf(path), row.agent_turn);
  return {
    trace_id: isOfSession ? agentTraceId(client, place.session) : row.trace_id,
    trace_source: row.trace_source,
    span_path: isDerived ? agentSpanPath(agentsOf(place.path), row.agent_turn) : row.span_path,
    agent_session: place.session,
    agent_path: place.path,
  };
}

async function readBelow(
  client: pg.ClientBase,
  accountId: number,
  calls: readonly AgentRow[],
  fromMs: number,
): Promise<readonly AgentRow[]> {
  const sessions = new Set<string>();
  const sessionOf = new Map<string, string>();
  for (const { agent_session: session, agent_path: path } of calls) {
    const agents = agentsOf(path ?? MAIN_AGENT);
    const agent = agents.at(-1);
    if (agent === undefined || session === null) continue;
    sessions.add(agent);
    if (agents.length > 1) sessionOf.set(agent, session);
  }
  const { rows } = await client.query<AgentRow>(BELOW, [
    accountId,
    [...sessions],
    new Date(fromMs - DAY_MS),
    [...sessionOf.keys()],
    [...sessionOf.values()],
    MAX_BELOW,
  ]);
  return rows;
}

/** `calls` are stored calls of sub-agents. Returns how many calls were moved. Runs in a transaction. */
export async function settleAgents(
  client: pg.ClientBase,
  accountId: number,
  calls: readonly AgentRow[],
): Promise<number> {
  if (calls.length === 0) return 0;
  const fromMs = calls.reduce((least, row) => Math.min(least, row.requested_at.getTime()), Number.POSITIVE_INFINITY);
  const tree = await readAgentTree(client, accountId, calls, fromMs);
  const below = await readBelow(client, accountId, calls, fromMs);
  for (const { agent_session: session, agent_path: path } of below)
    if (session !== null && path !== null) tree.add({ session, path });
  const all = new Map([...below, ...calls].map((row) => [row.id, row]));
  const moves = [...all.values()].flatMap((row): CallMove[] => {
    const to = placeAgent(row, tree);
    return to === null ? [] : [{ id: row.id, requestedAt: row.requested_at, from: row, to }];
  });
  if (moves.length === 0) return 0;
  await lockLog(client);
  return moveCalls(client, moves);
}
