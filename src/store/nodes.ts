/** The nodes that share this database: their signs of life, and who is silent. All times are by the database's clock. */
import type pg from 'pg';
import type { NodeRole } from '../config.ts';
import type { OwnSettings } from './shared-settings.ts';

/** A node that says nothing for so long is shown as silent. */
export const SILENT_AFTER_MINUTES = 15;
/** Three signs of life that did not come: nobody writes to its spool any more, as far as can be known. */
export const GONE_AFTER_SECONDS = 45;
/** Of nodes that have stopped in order and left nothing behind. */
const STOPPED_KEPT_DAYS = 7;
/** In one answer; there are never so many, but every start without a data directory that lasts makes one. */
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
  /** Since when, in milliseconds before now. */
  readonly clockStepAgeMs: number | null;
  readonly recordsWaiting: number | null;
  readonly openCalls: number | null;
  /** Null when not known: then as before. */
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

/**
 * A sign of life. A new run of a node takes its row over; where two runs give their signs in turn, they are two gateways
 * with one id. Returns whether that is so.
 */
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
      ...[beat.id, beat.name, beat.host, beat.version, beat.runId, beat.clockSkewMs, beat.clockStepAgeMs],
      ...[
        beat.clockStepMs,
        beat.recordsWaiting,
        beat.openCalls,
        beat.processes,
        JSON.stringify({ ...beat.ownSettings, role: beat.role }),
      ],
      isFirst,
    ],
  );
  return rows[0]?.is_doubled === true;
}

/** The last word of a run that stops in order. */
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

/**
 * Where a node says which role it has: beside its settings, which every release writes anew with each sign of life, so
 * that it is never that of a release before. One that knew no roles had all of them.
 */
const ROLE = "coalesce(own_settings->>'role', 'all')";

/**
 * Whether any other node is known that has a word on the settings of all, be it silent or stopped: those that only take
 * calls have none.
 */
export async function hasOtherNodes(client: pg.ClientBase, id: string): Promise<boolean> {
  const { rows } = await client.query<{ others: boolean }>(
    `select exists (select from nodes where id <> $1 and ${ROLE} <> 'proxy') as others`,
    [id],
  );
  return rows[0]?.others === true;
}

interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly version: string;
  readonly role: NodeRole;
  readonly started_at: Date;
  readonly seen_at: Date;
  readonly silent_ms: number;
  readonly stopped_at: Date | null;
  readonly is_doubled: boolean;
  readonly clock_skew_ms: number;
  readonly clock_stepped_at: Date | null;
  readonly clock_step_ms: number | null;
  readonly records_waiting: number | null;
  readonly open_calls: number | null;
  readonly shown_open: number;
  readonly own_settings: OwnSettings;
}

/** Those that were seen last first. */
export async function listNodes(client: pg.ClientBase | pg.Pool): Promise<readonly StoredNode[]> {
  const { rows } = await client.query<NodeRow>(
    `select id, name, host, version, ${ROLE} as role, started_at, seen_at, stopped_at, clock_skew_ms, clock_stepped_at, clock_step_ms,
       records_waiting, open_calls, own_settings,
       greatest(0, extract(epoch from clock_timestamp() - seen_at) * 1000)::int8 as silent_ms,
       coalesce(doubled_at > clock_timestamp() - make_interval(mins => $1), false) as is_doubled,
       (select count(*) from llm_open_calls o where o.process = any(n.processes)) as shown_open
     from nodes n order by seen_at desc, id limit ${MAX_LISTED}`,
    [SILENT_AFTER_MINUTES],
  );
  return rows.map(
    (row): StoredNode => ({
      ...{ id: row.id, name: row.name, host: row.host, version: row.version, role: row.role },
      ...{ startedAt: row.started_at, seenAt: row.seen_at, silentMs: row.silent_ms, stoppedAt: row.stopped_at },
      isDoubled: row.is_doubled,
      state: readState(row),
      ...{ clockSkewMs: row.clock_skew_ms, clockSteppedAt: row.clock_stepped_at, clockStepMs: row.clock_step_ms },
      ...{ recordsWaiting: row.records_waiting, openCalls: row.open_calls, shownOpen: row.shown_open },
      ownSettings: row.own_settings,
    }),
  );
}

function readState({ stopped_at, silent_ms }: NodeRow): StoredNode['state'] {
  if (stopped_at !== null) return 'stopped';
  return silent_ms >= SILENT_AFTER_MINUTES * 60_000 ? 'silent' : 'live';
}

/** The name of a live node, other than this one, that has one of these spool directories; null when none has. */
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
 * Which of these spool directories no node of this database is known to have: all of them are known where `nodeId` is. The
 * number of a key means another key in another deployment.
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

/** Takes rows out, by name or id; those of live nodes stay. Returns how many went, and how many live ones have that name. */
export async function forgetNodes(
  client: pg.ClientBase | pg.Pool,
  nameOrId: string,
): Promise<{ readonly forgotten: number; readonly live: number }> {
  const { rows } = await client.query<{ forgotten: number; live: number }>(
    `with named as (
       select id, stopped_at is null and seen_at > clock_timestamp() - make_interval(mins => $2) as is_live
       from nodes where name = $1 or id::text = $1
     ), forgotten as (
       delete from nodes n using named where n.id = named.id and not named.is_live returning n.id
     )
     select (select count(*) from forgotten) as forgotten, (select count(*) from named where is_live) as live`,
    [nameOrId, SILENT_AFTER_MINUTES],
  );
  return rows[0] ?? { forgotten: 0, live: 0 };
}

/** Nodes that have stopped in order with nothing left are no news for ever. */
export async function forgetStoppedNodes(client: pg.ClientBase): Promise<void> {
  await client.query(
    `delete from nodes where stopped_at < clock_timestamp() - make_interval(days => $1)
       and coalesce(records_waiting, 1) = 0 and coalesce(open_calls, 1) = 0`,
    [STOPPED_KEPT_DAYS],
  );
}
