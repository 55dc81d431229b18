/** The nodes that share this database, their signs of life and their silence, by the database's clock. */
import type pg from 'pg';
import type { NodeRole } from '../../vocabulary/config.ts';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';
import type { OwnSettings } from './shared-settings.ts';

export const SILENT_AFTER_MINUTES = 15;
/** After three missed signs of life, nobody is taken to write to the node's spool. */
export const GONE_AFTER_SECONDS = 45;
/** Nodes that stopped in order with nothing left are forgotten after this time. */
const STOPPED_KEPT_DAYS = 7;
/** Every start without a lasting data directory makes a node, so the answer has a bound. */
const MAX_LISTED = 500;

export interface NodeBeat {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  readonly role: NodeRole;
  readonly runId: string;
  readonly clockSkewMs: number;
  readonly clockStepMs: number | null;
  /** Milliseconds before now. */
  readonly clockStepAgeMs: number | null;
  readonly recordsWaiting: number | null;
  readonly openCalls: number | null;
  /** Null leaves the stored value. */
  readonly processes: readonly string[] | null;
  readonly ownSettings: OwnSettings;
}

export interface StoredNode {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  readonly role: NodeRole;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly silentMs: number;
  readonly stoppedAt: Date | null;
  readonly isDoubled: boolean;
  readonly state: 'live' | 'silent' | 'stopped';
  readonly clockSkewMs: number;
  readonly clockSteppedAt: Date | null;
  readonly clockStepMs: number | null;
  readonly recordsWaiting: number | null;
  readonly openCalls: number | null;
  /** Calls that the log shows as running on it. */
  readonly shownOpen: number;
  readonly ownSettings: OwnSettings;
}

/** A new run takes over the row. Returns whether two runs alternate: two gateways with one id. */
export async function beatNode(client: pg.ClientBase, beat: NodeBeat, isFirst: boolean): Promise<boolean> {
  const { rows } = await client.query<{ is_doubled: boolean }>(
    `insert into nodes as n (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, clock_stepped_at,
       clock_step_ms, records_waiting, open_calls, processes, own_settings)
     values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp(), $6,
       clock_timestamp() - make_interval(secs => $7::float8 / 1000), $8, $9, $10, coalesce($11::text[], '{}'), $12)
     on conflict (id) do update set
       name = excluded.name, host = excluded.host, version = excluded.version, run_id = excluded.run_id,
       started_at = case when n.run_id = excluded.run_id then n.started_at else excluded.started_at end,
       seen_at = excluded.seen_at, stopped_at = null, clock_skew_ms = excluded.clock_skew_ms,
       clock_stepped_at = coalesce(excluded.clock_stepped_at, n.clock_stepped_at),
       clock_step_ms = coalesce(excluded.clock_step_ms, n.clock_step_ms),
       records_waiting = excluded.records_waiting, open_calls = excluded.open_calls, processes = coalesce($11::text[], n.processes),
       own_settings = excluded.own_settings,
       doubled_at = case when n.run_id = excluded.run_id or $13 then n.doubled_at else excluded.seen_at end
     returning coalesce(doubled_at = seen_at, false) as is_doubled`,
    [
      beat.id,
      beat.name,
      beat.host,
      beat.version,
      beat.runId,
      beat.clockSkewMs,
      beat.clockStepAgeMs,
      beat.clockStepMs,
      beat.recordsWaiting,
      beat.openCalls,
      beat.processes,
      JSON.stringify({ ...beat.ownSettings, role: beat.role }),
      isFirst,
    ],
  );
  return rows[0]?.is_doubled === true;
}

export async function noteNodeStopped(
  client: pg.ClientBase,
  run: Pick<NodeBeat, 'id' | 'runId' | 'recordsWaiting' | 'openCalls' | 'processes'>,
): Promise<void> {
  await client.query(
    `update nodes set seen_at = clock_timestamp(), stopped_at = clock_timestamp(), records_waiting = $3, open_calls = $4,
       processes = coalesce($5::text[], processes)
     where id = $1 and run_id = $2`,
    [run.id, run.runId, run.recordsWaiting, run.openCalls, run.processes],
  );
}

/** Rewritten by every release with each sign of life; a release without roles had all of them. */
const ROLE = "coalesce(own_settings->>'role', 'all')";

/** Whether any other node, even a silent or stopped one, may decide on shared settings; proxy-only nodes may not. */
export async function hasOtherNodes(client: pg.ClientBase, id: string): Promise<boolean> {
  const { rows } = await client.query<{ others: boolean }>(
    `select exists (select from nodes where id <> $1 and ${ROLE} <> 'proxy') as others`,
    [id],
  );
  return rows[0]?.others === true;
}

type NodeRow = Omit<StoredNode, 'state'>;

/** Latest sign first. */
export async function listNodes(client: pg.ClientBase | pg.Pool): Promise<readonly StoredNode[]> {
  const { rows } = await client.query<NodeRow>(
    `select id, name, host, version, ${ROLE} as role, started_at as "startedAt", seen_at as "seenAt",
       stopped_at as "stoppedAt", clock_skew_ms as "clockSkewMs", clock_stepped_at as "clockSteppedAt",
       clock_step_ms as "clockStepMs", records_waiting as "recordsWaiting", open_calls as "openCalls",
       own_settings as "ownSettings",
       greatest(0, extract(epoch from clock_timestamp() - seen_at) * 1000)::int8 as "silentMs",
       coalesce(doubled_at > clock_timestamp() - make_interval(mins => $1), false) as "isDoubled",
       (select count(*) from llm_open_calls o where o.process = any(n.processes)) as "shownOpen"
     from nodes n order by seen_at desc, id limit ${MAX_LISTED}`,
    [SILENT_AFTER_MINUTES],
  );
  return rows.map((row) => ({ ...row, state: readState(row) }));
}

function readState({ stoppedAt, silentMs }: NodeRow): StoredNode['state'] {
  if (stoppedAt !== null) return 'stopped';
  return silentMs >= SILENT_AFTER_MINUTES * 60_000 ? 'silent' : 'live';
}

/** Its sign of life comes every 15 s. */
const SERVES_SECONDS = 45;

/** How many nodes have proxies and are alive; at least the one that asks. */
export async function countServingNodes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int4 as count from nodes
     where stopped_at is null and ${ROLE} <> 'control'
       and seen_at > clock_timestamp() - make_interval(secs => ${SERVES_SECONDS})`,
  );
  return Math.max(1, rows[0]?.count ?? 1);
}

/** Returns the name of another live node with one of these spool directories, or null. */
export async function findNodeOfProcesses(
  pool: pg.Pool,
  processes: readonly string[],
  exceptId: string,
): Promise<string | null> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from nodes where processes && $1::text[] and id <> $2 and stopped_at is null
       and seen_at > clock_timestamp() - make_interval(secs => $3) limit 1`,
    [processes, exceptId, GONE_AFTER_SECONDS],
  );
  return rows[0]?.name ?? null;
}

/**
 * Returns the directories that no node here had, since their key numbers may mean other keys; none for a known
 * `nodeId`.
 */
export async function listUnknownProcesses(
  pool: pg.Pool,
  processes: readonly string[],
  nodeId: string | null,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select asked.process as name from unnest($1::text[]) as asked (process)
     where not exists (select from nodes n where asked.process = any(n.processes) or n.id = $2::uuid)
       and not exists (select from llm_open_calls o where o.process = asked.process)
       and not exists (select from llm_closed_calls c where c.process = asked.process) order by name`,
    [processes, nodeId],
  );
  return rows.map(({ name }) => name);
}

/** Forgets nodes by name or id, but no live ones. Returns how many went, and how many live ones have that name. */
export function forgetNodes(
  pool: pg.Pool,
  accountId: number,
  nameOrId: string,
): Promise<{ readonly forgotten: number; readonly live: number }> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ forgotten: number; live: number }>(FORGET, [nameOrId, SILENT_AFTER_MINUTES]);
    const { forgotten, live } = rows[0] ?? { forgotten: 0, live: 0 };
    if (forgotten > 0) {
      const subject = { kind: 'node', id: nameOrId };
      await noteChange(client, { accountId, action: 'node.forget', subject, after: { forgotten } });
    }
    return { forgotten, live };
  });
}

const FORGET = `with named as (
       select id, stopped_at is null and seen_at > clock_timestamp() - make_interval(mins => $2) as is_live
       from nodes where name = $1 or id::text = $1
     ), forgotten as (
       delete from nodes n using named where n.id = named.id and not named.is_live returning n.id
     )
     select (select count(*) from forgotten) as forgotten, (select count(*) from named where is_live) as live`;

export async function forgetStoppedNodes(client: pg.ClientBase): Promise<void> {
  await client.query(
    `delete from nodes where stopped_at < clock_timestamp() - make_interval(days => $1)
       and coalesce(records_waiting, 1) = 0 and coalesce(open_calls, 1) = 0`,
    [STOPPED_KEPT_DAYS],
  );
}
