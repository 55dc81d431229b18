/** Looks at the alerts and sends what they found, on the one node that holds the lease. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { forgetOldEvents } from '../alerts/alert-events.ts';
import { sealAllDestinations } from '../alerts/destination-seals.ts';
import { type AlertWatchOptions, lookAtAlerts, sendDue } from '../alerts/watch-alerts.ts';
import { giveLeaseBack, holdLease } from '../store/lease.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const LEASE = 'alerts';
/** Longer than a round may take: sending has limits of 15 s. */
const LEASE_SECONDS = 60;
const ROUND_MS = 1_000;
const FORGET_INTERVAL_MS = 3_600_000;

export function repeatAlerts(options: AlertWatchOptions & { readonly log: Logger }): Repeating {
  const { pool, log, keys } = options;
  const [key] = keys;
  let isSealed = key === undefined;
  const holder = randomUUID();
  let forgottenMs = Number.NEGATIVE_INFINITY;
  const repeating = repeatOnDatabase({
    pauseMs: ROUND_MS,
    failure: 'the alerts could not be looked at',
    log,
    run: async () => {
      if (!(await holdLease(pool, LEASE, holder, LEASE_SECONDS))) return;
      if (!isSealed && key !== undefined) {
        await sealAllDestinations(pool, key);
        isSealed = true;
      }
      if (performance.now() - forgottenMs > FORGET_INTERVAL_MS) {
        await forgetOldEvents(pool);
        forgottenMs = performance.now();
      }
      await lookAtAlerts(options);
      // Looking may have taken longer than the lease: then another node sends.
      if (await holdLease(pool, LEASE, holder, LEASE_SECONDS)) await sendDue(options);
    },
  });
  return {
    stop: async () => {
      await repeating.stop();
      await giveLeaseBack(pool, LEASE, holder).catch(() => {}); // A failure leaves it to its time.
    },
  };
}
