/** Time cut into buckets by a time zone's clocks; PostgreSQL's `date_trunc` decides for buckets and sums alike. */

import type pg from 'pg';
import { errorCode, INVALID_PARAMETER } from '../store/database-error.ts';
import { type CostInterval, CostQueryError } from './cost-query.ts';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const MAX_BUCKETS = 1_000;

const INTERVAL_MS = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 28 * DAY_MS,
} as const satisfies Readonly<Record<Exclude<CostInterval, 'none'>, number>>;

/** The longest windows that `auto` cuts into hours, days and weeks. */
const AUTO_HOURS_MS = 3 * DAY_MS;
const AUTO_DAYS_MS = 120 * DAY_MS;
const AUTO_WEEKS_MS = 730 * DAY_MS;

/** Throws a CostQueryError when there would be too many buckets. */
export function chooseInterval(wanted: CostInterval | 'auto', from: Date, to: Date): CostInterval {
  const windowMs = to.getTime() - from.getTime();
  if (wanted === 'auto') {
    if (windowMs <= AUTO_HOURS_MS) return 'hour';
    if (windowMs <= AUTO_DAYS_MS) return 'day';
    return windowMs <= AUTO_WEEKS_MS ? 'week' : 'month';
  }
  if (wanted !== 'none' && windowMs > MAX_BUCKETS * INTERVAL_MS[wanted])
    throw new CostQueryError(
      `These are more than ${MAX_BUCKETS} buckets of one ${wanted}; choose a longer interval, or a shorter time.`,
    );
  return wanted;
}

/** Both the database and this platform must know the zone: the database alone would take `X+3` for one. */
export async function isTimeZone(client: pg.ClientBase | pg.Pool, name: string): Promise<boolean> {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  try {
    await client.query('select timezone($1::text, now())', [name]);
    return true;
  } catch (error) {
    if (errorCode(error) === INVALID_PARAMETER) return false;
    throw error;
  }
}

/** `$1` unit, `$2` zone, `$3` and `$4` window. All zones' offsets are whole quarters of an hour. */
const LIST_HOURS = `
  select distinct date_trunc($1::text, greatest(t, $3), $2::text) as start
  from generate_series(date_trunc('hour', $3::timestamptz, 'UTC'), $4::timestamptz, interval '15 minutes') t
  where t < $4::timestamptz
  order by 1`;

const LIST_DAYS = `
  select distinct date_trunc($1::text, t at time zone $2::text, $2::text) as start
  from generate_series(date_trunc($1::text, $3::timestamptz at time zone $2::text),
    ($4::timestamptz - interval '1 millisecond') at time zone $2::text, ('1 ' || $1::text)::interval) t
  order by 1`;

/** Returns the starts of all buckets that the window touches; the first mostly lies before it. */
export async function listBucketStarts(
  client: pg.ClientBase,
  interval: CostInterval,
  timeZone: string,
  from: Date,
  to: Date,
): Promise<readonly Date[]> {
  if (interval === 'none' || from >= to) return [];
  const { rows } = await client.query<{ start: Date }>(interval === 'hour' ? LIST_HOURS : LIST_DAYS, [
    interval,
    timeZone,
    from,
    to,
  ]);
  return rows.map(({ start }) => start);
}

const LIST_SPLIT_HOURS = `
  select h as hour
  from generate_series($3::timestamptz, $4::timestamptz - interval '1 hour', interval '1 hour') h
  where exists (
    select from (values (interval '15 minutes'), (interval '30 minutes'), (interval '45 minutes')) part (after)
    where date_trunc($1::text, h + after, $2::text) <> date_trunc($1::text, h, $2::text))
  order by 1`;

/** Returns the hours (UTC) that two buckets share, in zones that are half an hour off. */
export async function listSplitHours(
  client: pg.ClientBase,
  interval: CostInterval,
  timeZone: string,
  from: Date,
  to: Date,
): Promise<readonly Date[]> {
  if (interval === 'none' || from >= to) return [];
  const { rows } = await client.query<{ hour: Date }>(LIST_SPLIT_HOURS, [interval, timeZone, from, to]);
  return rows.map(({ hour }) => hour);
}
