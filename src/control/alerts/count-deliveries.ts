/** Whether alerts reach anybody, in all accounts: for whoever runs the gateway. */
import type pg from 'pg';

export interface AlertFigures {
  /** Alerts that could not be looked at the last time. */
  readonly inTrouble: number;
  readonly waiting: number;
  /** Of those that wait: not taken at least once. */
  readonly retried: number;
  /** Given up, or not taken up since too many waited, of what was found within the last day. */
  readonly undelivered: number;
}

export async function countDeliveries(pool: pg.Pool): Promise<AlertFigures> {
  const { rows } = await pool.query<AlertFigures>(
    `select (select count(*) from alerts where is_on and problem is not null) as "inTrouble",
       count(*) filter (where v.state = 'waiting') as waiting,
       count(*) filter (where v.state = 'waiting' and v.attempts > 0) as retried,
       count(*) filter (where v.state <> 'waiting') as undelivered
     from alert_deliveries v where v.state = 'waiting' or v.state in ('failed', 'dropped') and exists (
       select from alert_events e where e.account_id = v.account_id and e.id = v.event_id
         and e.fired_at > now() - interval '1 day')`,
  );
  return rows[0] ?? { inTrouble: 0, waiting: 0, retried: 0, undelivered: 0 };
}
