/** Sees to it that every day of the log has its indexes: after an upgrade, and when a day that was too large for it is over. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { startIndexJob } from '../log/index-job.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const PAUSE_MS = 600_000;

export function repeatIndexing(pool: pg.Pool, log: Logger): Repeating {
  return repeatOnDatabase({
    pauseMs: PAUSE_MS,
    failure: 'older days of the log could not be looked at for missing indexes',
    log,
    run: () => startIndexJob(pool, FIRST_ACCOUNT_ID),
  });
}
