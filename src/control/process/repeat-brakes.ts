/** Watches the calls of all nodes for the brakes, on the one node that holds the lease. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type CallWatch, createCallWatch } from '../brakes/watch-calls.ts';
import { giveLeaseBack, holdLease } from '../store/lease.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const LEASE = 'brakes';
/** After so long another node takes over from one that is gone. */
const LEASE_SECONDS = 5;
const LOOK_MS = 1_000;

export interface RepeatBrakesOptions {
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  readonly publishPauses: () => Promise<void>;
  readonly log: Logger;
}

export function repeatBrakes({ pool, nowMs, publishPauses, log }: RepeatBrakesOptions): Repeating {
  const holder = randomUUID();
  let watch: CallWatch | null = null;
  async function look(): Promise<void> {
    if (!(await holdLease(pool, LEASE, holder, LEASE_SECONDS))) {
      watch = null;
      return;
    }
    watch ??= createCallWatch({ pool, nowMs, log });
    const { hits } = await watch.look();
    if (hits > 0) await publishPauses();
  }
  const repeating = repeatOnDatabase({
    pauseMs: LOOK_MS,
    failure: 'the calls could not be looked at for the brakes',
    log,
    run: async () => {
      try {
        await look();
      } catch (error) {
        // It may have read what it did not note; and another node may have had the watch meanwhile.
        watch = null;
        throw error;
      }
    },
  });
  return {
    stop: async () => {
      await repeating.stop();
      // A failure leaves it to its time.
      await giveLeaseBack(pool, LEASE, holder).catch(() => {});
    },
  };
}
