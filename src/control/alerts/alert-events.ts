/** What alerts found, and the queue of what is to be sent of it: in the database, bounded, each to each destination once. */
import type pg from 'pg';
import { v7 } from 'uuid';
import { BUDGET_SUBJECT } from '../store/budget-subject.ts';
import { inTransaction } from '../store/pool.ts';
import { ERASED, pseudonymOf } from '../store/pseudonym.ts';
import { type Alert, DESTINATION_COLUMNS } from './alert-store.ts';
import type { StoredDestination } from './destination.ts';

/** Of an account. What comes on top is listed as dropped. */
const MAX_WAITING = 1_000;
const KEPT_DAYS = 90;
/** Seconds before the next try, as Standard Webhooks proposes. */
const BACK_OFF_SECONDS: readonly number[] = [5, 30, 120, 600, 3_600, 21_600, 86_400];

/** Something that an alert is about is true. */
export interface Finding {
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly numbers: Readonly<Record<string, number | string>>;
}

/**
 * Notes what is new, with a delivery for each destination. `lasts`: what is not found any more has ended, and is told again
 * when it comes back; else each subject is told once. Returns how many are new.
 */
export function noteFindings(
  pool: pg.Pool,
  alert: Alert,
  findings: readonly Finding[],
  lasts: boolean,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    if (lasts)
      await client.query(
        `update alert_events set ended_at = now()
         where account_id = $1 and alert_id = $2 and ended_at is null and subject <> all($3::text[])`,
        [alert.accountId, alert.id, findings.map(({ subject }) => subject)],
      );
    let fired = 0;
    for (const finding of findings) {
      const id = v7();
      const { rowCount } = await client.query(
        `insert into alert_events (account_id, id, alert_id, subject, title, body, numbers)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (account_id, alert_id, subject) where ended_at is null do nothing`,
        [alert.accountId, id, alert.id, finding.subject, finding.title, finding.body, JSON.stringify(finding.numbers)],
      );
      if (rowCount !== 1) continue;
      fired += 1;
      await client.query(
        `insert into alert_deliveries (account_id, event_id, destination_id, state, error)
         select $1, $2, d.id, q.state, case q.state when 'dropped' then 'too many deliveries wait' end
         from alert_destinations d, (select case when count(*) < ${MAX_WAITING} then 'waiting' else 'dropped' end as state
           from alert_deliveries where account_id = $1 and state = 'waiting') q
         where d.account_id = $1 and d.id = any($3::int4[])`,
        [alert.accountId, id, alert.destinations],
      );
    }
    return fired;
  });
}

export interface Message {
  /** The same for each try, by which receivers know a repetition. */
  readonly id: string;
  readonly accountId: number;
  readonly alert: { readonly id: number; readonly name: string; readonly kind: string } | null;
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly numbers: Readonly<Record<string, unknown>>;
  readonly firedAt: Date;
}

export interface DueDelivery {
  readonly message: Message;
  readonly destination: StoredDestination;
  readonly attempts: number;
}

interface DueRow extends Omit<Message, 'alert'> {
  readonly alertId: number;
  readonly alertName: string;
  readonly alertKind: string;
  readonly attempts: number;
  readonly destination: StoredDestination;
}

export async function listDue(pool: pg.Pool, most: number): Promise<readonly DueDelivery[]> {
  const { rows } = await pool.query<DueRow>(
    `select e.id, e.account_id as "accountId", e.subject, e.title, e.body, e.numbers, e.fired_at as "firedAt",
       a.id as "alertId", a.name as "alertName", a.kind as "alertKind", v.attempts,
       to_json(d) as destination
     from alert_deliveries v join alert_events e on e.account_id = v.account_id and e.id = v.event_id
       join alerts a on a.id = e.alert_id
       join (select ${DESTINATION_COLUMNS} from alert_destinations) d on d.id = v.destination_id
     where v.state = 'waiting' and v.next_at <= now() order by v.next_at limit $1`,
    [most],
  );
  return rows.map(({ alertId, alertName, alertKind, attempts, destination, ...message }) => ({
    message: { ...message, alert: { id: alertId, name: alertName, kind: alertKind } },
    destination,
    attempts,
  }));
}

export interface SendResult {
  readonly isSent: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

export async function noteSent(
  pool: pg.Pool,
  { message, destination, attempts }: DueDelivery,
  result: SendResult,
): Promise<void> {
  const wait = BACK_OFF_SECONDS[attempts];
  const state = result.isSent ? 'sent' : wait === undefined ? 'failed' : 'waiting';
  await pool.query(
    `update alert_deliveries set state = $4, attempts = attempts + 1, status = $5, error = $6,
       sent_at = case when $4 = 'sent' then now() end, next_at = now() + make_interval(secs => $7)
     where account_id = $1 and event_id = $2 and destination_id = $3`,
    [message.accountId, message.id, destination.id, state, result.status, result.error, wait ?? 0],
  );
}

export interface StoredDelivery {
  readonly eventId: string;
  readonly alertId: number;
  readonly alertName: string;
  readonly title: string;
  readonly firedAt: Date;
  readonly endedAt: Date | null;
  readonly destinationId: number | null;
  readonly destinationName: string | null;
  readonly state: string | null;
  readonly attempts: number | null;
  readonly nextAt: Date | null;
  readonly sentAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
}

/** The newest first; an event without a destination is there once. What was found of `hiddenJobs` is left out. */
export async function listDeliveries(
  pool: pg.Pool,
  accountId: number,
  {
    alertId,
    limit,
    hiddenJobs,
  }: { readonly alertId: number | null; readonly limit: number; readonly hiddenJobs: readonly string[] },
): Promise<readonly StoredDelivery[]> {
  const { rows } = await pool.query<StoredDelivery>(
    `select e.id as "eventId", e.alert_id as "alertId", a.name as "alertName", e.title, e.fired_at as "firedAt",
       e.ended_at as "endedAt", d.id as "destinationId", d.name as "destinationName", v.state, v.attempts,
       case v.state when 'waiting' then v.next_at end as "nextAt", v.sent_at as "sentAt", v.status, v.error
     from alert_events e join alerts a on a.id = e.alert_id
       left join alert_deliveries v on v.account_id = e.account_id and v.event_id = e.id
       left join alert_destinations d on d.id = v.destination_id
     where e.account_id = $1 and ($2::int4 is null or e.alert_id = $2)
       and not (a.kind = 'jobs' and exists (select from jobs j
         where j.account_id = e.account_id and e.subject = 'job ' || j.id and j.kind = any($4)))
     order by e.fired_at desc, e.id, d.id limit $3`,
    [accountId, alertId, limit, hiddenJobs],
  );
  return rows;
}

/**
 * That an event is there is how it is known that it was told. So what could be found again stays: what still lasts, a budget
 * while the sum of its period is kept (those without periods may be spent of for years), and a model without a price. Hits of
 * brakes and failed jobs are looked for in fewer days than events are kept.
 */
const MAY_COME_AGAIN = `case a.kind
  when 'question' then e.ended_at is null
  when 'nodes' then e.ended_at is null
  when 'unpriced' then e.ended_at is null
  when 'budget' then exists (
    select from regexp_match(e.subject, ${BUDGET_SUBJECT}) as part join budget_spend s
      on s.account_id = e.account_id and s.budget_id = part[1]::int4 and s.value = part[2]
        and s.period_start = part[3]::timestamptz)
    or e.title = '${ERASED}' and exists (
    select from regexp_match(e.subject, ${BUDGET_SUBJECT}) as part join budget_spend s
      on s.account_id = e.account_id and s.budget_id = part[1]::int4 and ${pseudonymOf('s.value')} = part[2]
        and s.period_start = part[3]::timestamptz)
  else false end`;

export async function forgetOldEvents(pool: pg.Pool): Promise<void> {
  await pool.query(
    `delete from alert_events e using alerts a
     where a.id = e.alert_id and e.fired_at < now() - make_interval(days => $1) and not ${MAY_COME_AGAIN}`,
    [KEPT_DAYS],
  );
}
