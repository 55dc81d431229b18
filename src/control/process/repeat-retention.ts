/**
 * Applies all nodes' retention limits at the start and every hour. A node whose clock differs from the database's drops
 * nothing. Failures are tried again.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { forgetEntries } from '../audit/forget-entries.ts';
import { cutRollups } from '../log/cut-rollups.ts';
import { forgetOldResults } from '../shipper/billed-results.ts';
import { readDatabaseTime } from '../store/database-clock.ts';
import { CANCELLED_BY_TIME, errorCode, isDatabaseDown } from '../store/database-error.ts';
import { inTransaction } from '../store/pool.ts';
import { applyRetention, type RetentionLimits, type RetentionResult } from '../store/retention.ts';
import { isPaused } from '../store/retention-pause.ts';
import { readSharedSettings } from '../store/shared-settings.ts';
import { isTrusted, type NodeClock } from './node-clock.ts';
import { type Repeating, repeat } from './repeat.ts';
import { type AccountSweep, sweepAccounts } from './sweep-accounts.ts';

const PAUSE_MS = 3_600_000;
/** A day of many runs takes long, and longer after a failure. */
const DAY_LIMIT_MS = 600_000;
const MAX_DAY_LIMIT_MS = 7_200_000;
const RETRY_MS = 1_000;
const WRONG_CLOCK_PAUSE_MS = 60_000;

export type SweepResult =
  | (RetentionResult & { readonly limits: RetentionLimits; readonly accounts: AccountSweep })
  | 'no settings'
  | 'wrong clock'
  | 'paused';

export async function sweepLog(
  pool: pg.Pool,
  clock: Pick<NodeClock, 'compare'>,
  dayLimitMs?: number,
): Promise<SweepResult> {
  if (!isTrusted(await clock.compare(pool))) return 'wrong clock';
  const shared = await readSharedSettings(pool);
  if (shared === null) return 'no settings';
  if (await isPaused(pool)) return 'paused';
  const limits = { rowsDays: Number(shared.retention_rows.value), bodiesDays: Number(shared.retention_bodies.value) };
  const result = await applyRetention({ pool, limits, readTime: readDatabaseTime, cutRollups, dayLimitMs });
  const accounts = await sweepAccounts({ pool, limits, readTime: readDatabaseTime });
  const keptAudit = shared.retention_audit.value;
  if (keptAudit !== 'forever') await inTransaction(pool, (client) => forgetEntries(client, Number(keptAudit)));
  await forgetOldResults(pool, await readDatabaseTime(pool), limits.rowsDays);
  return { ...result, limits, accounts };
}

function isTooSlow(error: unknown): boolean {
  return errorCode(error) === CANCELLED_BY_TIME || (error instanceof Error && error.message === 'Query read timeout');
}

export function repeatRetention(pool: pg.Pool, clock: NodeClock, log: Logger): Repeating {
  let dayLimitMs = DAY_LIMIT_MS;
  return repeat(async () => {
    try {
      const swept = await sweepLog(pool, clock, dayLimitMs);
      if (swept === 'no settings') return RETRY_MS;
      if (swept === 'wrong clock') return WRONG_CLOCK_PAUSE_MS;
      if (swept === 'paused') return PAUSE_MS;
      const { dropped, waitingFor, limits, accounts } = swept;
      if (dropped.length > 0) log.info({ dropped, ...limits }, 'retention dropped old days');
      if (accounts.calls + accounts.bodies > 0)
        log.info(accounts, 'retention deleted calls of accounts that keep less');
      if (waitingFor !== null) log.info({ waitingFor }, 'retention goes on at its next time');
    } catch (error) {
      if (isTooSlow(error)) {
        const before = dayLimitMs;
        dayLimitMs = Math.min(MAX_DAY_LIMIT_MS, dayLimitMs * 2);
        log.warn(
          { limitMs: before, nextLimitMs: dayLimitMs },
          'an old day could not be dropped in time; it is tried again',
        );
      } else if (!isDatabaseDown(error)) log.error({ err: error }, 'old days could not be dropped');
    }
    return PAUSE_MS;
  });
}
