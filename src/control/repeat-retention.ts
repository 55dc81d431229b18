/** Applies the retention limits at the start and every hour, and says what was dropped. Failures wait for the next time. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import type { Config } from '../config.ts';
import { cutRollups } from '../runs/cut-rollups.ts';
import { forgetOldResults } from '../shipper/billed-results.ts';
import { applyRetention } from '../store/retention.ts';
import { type Repeating, repeat } from './repeat.ts';

const PAUSE_MS = 3_600_000;

export function repeatRetention(pool: pg.Pool, config: Config, log: Logger): Repeating {
  const limits = { rowsDays: config.retentionRowsDays, bodiesDays: config.retentionBodiesDays };
  return repeat(async () => {
    try {
      const { dropped, waitingFor } = await applyRetention({ pool, limits, nowMs: Date.now(), cutRollups });
      await forgetOldResults(pool, Date.now(), limits.rowsDays);
      if (dropped.length > 0) log.info({ dropped, ...limits }, 'retention dropped old days');
      if (waitingFor !== null) log.info({ waitingFor }, 'retention goes on at its next time');
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'old days could not be dropped');
    }
    return PAUSE_MS;
  });
}
