/**
 * Closes open calls of silent nodes, after the operator's time, and of processes without a node, by the database's
 * clock. A late ending replaces such a row.
 */
import type pg from 'pg';
import type { SharedSettings } from '../store/shared-settings.ts';
import { type CloseOptions, closeOpenCalls } from './close-open-calls.ts';
import { isTrusted, type NodeClock } from './node-clock.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const POLL_MS = 60_000;
const RETRY_MS = 1_000;
/** The number is arbitrary and stays the same in every version. */
const GONE_LOCK = 7_461_016;
/** A call without a node is of a release without signs of life, or of a forgotten node. */
const LEAST_HOURS_WITHOUT_NODE = 24;
/** Nobody brings the spool of a node gone so long. */
const CLOSED_KEPT_DAYS = 400;

/** $1: hours; $2: hours for calls without a node. */
const LIST_GONE = `
  select o.id from llm_open_calls o
  where exists (
      select from nodes n
      where o.process = any(n.processes) and n.seen_at < clock_timestamp() - make_interval(hours => $1))
    and not exists (
      select from nodes n
      where o.process = any(n.processes) and n.seen_at >= clock_timestamp() - make_interval(hours => $1))
    or o.requested_at < clock_timestamp() - make_interval(hours => $2)
      and not exists (select from nodes n where o.process = any(n.processes))
  order by o.id limit 10000`;

export interface GoneOptions extends Omit<CloseOptions, 'listIds' | 'nowMs' | 'log'> {
  readonly clock: NodeClock;
  readonly shared: () => SharedSettings | null;
  readonly log: CloseOptions['log'] & { info(fields: Readonly<Record<string, unknown>>, message: string): void };
}

/** One turn. Returns the number of closed calls; null when another node is at it. */
export async function closeGoneCalls(options: Omit<CloseOptions, 'listIds'>, hours: number): Promise<number | null> {
  let isOurs = false;
  const closed = await closeOpenCalls({
    ...options,
    listIds: async (client) => {
      // Closing the session frees the lock.
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [GONE_LOCK]);
      isOurs = rows[0]?.got === true;
      if (!isOurs) return [];
      await client.query('delete from llm_closed_calls where closed_at < now() - make_interval(days => $1)', [
        CLOSED_KEPT_DAYS,
      ]);
      return listGone(client, hours);
    },
  });
  return isOurs ? closed : null;
}

async function listGone(client: pg.ClientBase | pg.Pool, hours: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(LIST_GONE, [hours, Math.max(hours, LEAST_HOURS_WITHOUT_NODE)]);
  return rows.map(({ id }) => id);
}

export function repeatGoneNodes(options: GoneOptions): Repeating {
  const { clock, shared, log } = options;
  return repeatOnDatabase({
    pauseMs: POLL_MS,
    failure: 'calls of nodes that are gone could not be closed',
    log,
    run: async () => {
      const settings = shared();
      if (settings === null) return RETRY_MS;
      if (!isTrusted(clock.state().skewMs)) return POLL_MS;
      const hours = Number(settings.interrupt_after_hours.value);
      if ((await listGone(options.pool, hours)).length === 0) return POLL_MS;
      const closed = await closeGoneCalls({ ...options, nowMs: clock.nowMs }, hours);
      if (closed !== null && closed > 0)
        log.info({ calls: closed }, 'calls of nodes that are gone were closed as interrupted');
      return POLL_MS;
    },
  });
}
