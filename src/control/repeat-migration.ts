/** Brings the database's schema up to date as soon as the database can be used. Once, and then no more. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { migrate } from '../store/migrate.ts';
import { type Repeating, repeat } from './repeat.ts';

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;

/** Calls `onMigrated` when it is done. Says each new reason why it cannot be once. */
export function repeatMigration(
  pool: pg.Pool,
  migrationsDir: string,
  log: Logger,
  onMigrated: () => Promise<void>,
): Repeating {
  let retryMs = MIN_RETRY_MS;
  let lastReason = '';
  return repeat(async () => {
    try {
      const applied = await migrate(pool, migrationsDir);
      if (applied.length > 0) log.info({ applied }, 'the database schema is up to date');
      await onMigrated();
      return null;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== lastReason) log.warn({ reason }, 'the database cannot be used yet; records wait in the spool');
      lastReason = reason;
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      return retryMs;
    }
  });
}
