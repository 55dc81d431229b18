/**
 * Pauses deletion for a day when the database's clock may have jumped: days lie between two signs of life. Either all
 * nodes were off, or that clock is wrong and an operator has a day to correct it.
 */
import type pg from 'pg';

const NAME = 'retention_paused_until';
/** The silence of all nodes that begins a pause. */
const GAP_HOURS = 48;
const PAUSE_HOURS = 24;

/** Call it before each sign of life. Returns whether a pause begins. */
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

/** A pause further ahead than any can be was noted by a wrong clock and does not count. */
export async function isPaused(client: pg.ClientBase | pg.Pool): Promise<boolean> {
  const { rows } = await client.query<{ is_paused: boolean }>(
    `select value::timestamptz between clock_timestamp() and clock_timestamp() + make_interval(hours => $2) as is_paused
     from deployment_settings where name = $1`,
    [NAME, PAUSE_HOURS],
  );
  return rows[0]?.is_paused === true;
}
