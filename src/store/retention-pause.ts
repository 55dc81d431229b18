/**
 * A day without deleting, when the clock of the database may have jumped: between two signs of life of the nodes lie
 * days by it. All may have been switched off for so long, or the machine of the database has come back with a wrong
 * clock; a day is time enough to set that.
 */
import type pg from 'pg';

const NAME = 'retention_paused_until';
/** No node has given a sign for so long. */
const GAP_HOURS = 48;
const PAUSE_HOURS = 24;

/** Before each sign of life. Returns whether a pause begins. */
export async function noteGap(client: pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into deployment_settings (name, value, set_by, actor)
     select $1, (clock_timestamp() + make_interval(hours => $3))::text, 'log', 'the clock of the database'
     where (select max(seen_at) from nodes) < clock_timestamp() - make_interval(hours => $2)
     on conflict (name) do update set value = excluded.value, changed_at = now()`,
    [NAME, GAP_HOURS, PAUSE_HOURS],
  );
  return (rowCount ?? 0) > 0;
}

/** One that was noted by a clock which was wrong, and lies further ahead than any, is none. */
export async function isPaused(client: pg.ClientBase | pg.Pool): Promise<boolean> {
  const { rows } = await client.query<{ is_paused: boolean }>(
    `select value::timestamptz between clock_timestamp() and clock_timestamp() + make_interval(hours => $2) as is_paused
     from deployment_settings where name = $1`,
    [NAME, PAUSE_HOURS],
  );
  return rows[0]?.is_paused === true;
}
