/**
 * Applies the retention limits of all nodes at the start and every hour, and says what was dropped. A node whose clock
 * is wrong by that of the database drops nothing, whatever the reason is. Failures wait for the next time.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import { cutRollups } from '../runs/cut-rollups.ts';
import { forgetOldResults } from '../shipper/billed-results.ts';
import { readDatabaseTime } from '../store/database-clock.ts';
import { applyRetention, type RetentionLimits, type RetentionResult } from '../store/retention.ts';
import { isPaused } from '../store/retention-pause.ts';
import { readSharedSettings } from '../store/shared-settings.ts';
import { isTrusted, type NodeClock } from './node-clock.ts';
import { type Repeating, repeat } from './repeat.ts';

const PAUSE_MS = 3_600_000;
/**
 * A day of many runs takes its time, and so much more when that did not do; the records wait in the spool meanwhile.
 */
const DAY_LIMIT_MS = 600_000;
const MAX_DAY_LIMIT_MS = 7_200_000;
/** Before the settings of all nodes are there. */
const RETRY_MS = 1_000;
/** For a clock that is wrong now. */
const WRONG_CLOCK_PAUSE_MS = 60_000;

export type SweepResult =
  | (RetentionResult & { readonly limits: RetentionLimits })
  | 'no settings'
  | 'wrong clock'
  | 'paused';

/** One turn. Rejects when the database does not answer. */
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
  await forgetOldResults(pool, await readDatabaseTime(pool), limits.rowsDays);
  return { ...result, limits };
}

/** SQLSTATE: cancelled by the limit of time; or the driver's word for it. */
function isTooSlow(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '57014') || error.message === 'Query read timeout';
}

export function repeatRetention(pool: pg.Pool, clock: NodeClock, log: Logger): Repeating {
  let dayLimitMs = DAY_LIMIT_MS;
  return repeat(async () => {
    try {
      const swept = await sweepLog(pool, clock, dayLimitMs);
      if (swept === 'no settings') return RETRY_MS;
      if (swept === 'wrong clock') return WRONG_CLOCK_PAUSE_MS;
      if (swept === 'paused') return PAUSE_MS;
      const { dropped, waitingFor, limits } = swept;
      if (dropped.length > 0) log.info({ dropped, ...limits }, 'retention dropped old days');
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
