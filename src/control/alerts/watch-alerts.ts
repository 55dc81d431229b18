/** Looks at all alerts, and sends what waits. One node at a time does it. */
import type pg from 'pg';
import { describeDatabaseError, isDatabaseDown } from '../store/database-error.ts';
import { listDue, noteFindings, noteSent } from './alert-events.ts';
import { ALERT_SETTINGS } from './alert-kinds.ts';
import { lookSecondsOf } from './alert-question.ts';
import { type Alert, listAlertsToCheck, noteChecked } from './alert-store.ts';
import { LOOKS } from './find-findings.ts';
import { openDestination } from './sealed-destination.ts';
import { NOT_OPENED, type SendOptions, sendMessage } from './send-message.ts';

/** Sent at a time, so that one slow receiver does not hold up all. */
const SENT_AT_ONCE = 10;
const LOOK_SECONDS = 5;

export interface AlertWatchOptions {
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  readonly sending: SendOptions;
  /** Those that open what is sealed. */
  readonly keys: readonly Buffer[];
}

/** Returns how many were sent or tried. */
export async function sendDue({
  pool,
  sending,
  keys,
}: Pick<AlertWatchOptions, 'pool' | 'sending' | 'keys'>): Promise<number> {
  const due = await listDue(pool, SENT_AT_ONCE);
  await Promise.all(
    due.map(async (delivery) => {
      const destination = openDestination(keys, delivery.destination);
      const result = destination === null ? NOT_OPENED : await sendMessage(delivery.message, destination, sending);
      await noteSent(pool, delivery, result);
    }),
  );
  return due.length;
}

function isDue(alert: Alert, nowMs: number): boolean {
  if (alert.checkedAt === null) return true;
  const question = alert.kind === 'question' ? ALERT_SETTINGS.question.safeParse(alert.settings).data : undefined;
  const seconds = question === undefined ? LOOK_SECONDS : lookSecondsOf(question);
  return nowMs - alert.checkedAt.getTime() >= seconds * 1_000;
}

/** Returns how much was found anew. An alert that cannot be looked at does not hold up the others; it says why. */
export async function lookAtAlerts({ pool, nowMs }: Pick<AlertWatchOptions, 'pool' | 'nowMs'>): Promise<number> {
  let fired = 0;
  for (const alert of await listAlertsToCheck(pool)) {
    if (!isDue(alert, nowMs())) continue;
    try {
      const { findings, lasts } = await LOOKS[alert.kind](pool, alert, nowMs());
      fired += await noteFindings(pool, alert, findings, lasts);
      await noteChecked(pool, alert, null);
    } catch (error) {
      if (isDatabaseDown(error)) throw error;
      await noteChecked(pool, alert, describeDatabaseError(error).slice(0, 300));
    }
  }
  return fired;
}
