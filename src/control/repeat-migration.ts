/**
 * Looks whether the database can be worked with and brings its schema up to date, as soon as it can be used. Once, and
 * then no more.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { judgeDatabase } from '../store/judge-database.ts';
import { migrate } from '../store/migrate.ts';
import { type Repeating, repeat } from './repeat.ts';

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;
/** Of a large log a migration may take its time; until then nothing is wrong. */
const JUST_STARTED = 'the gateway has just started, and looks at it or brings its tables up to date';

export interface MigrationOptions {
  readonly pool: pg.Pool;
  readonly connectionString: string;
  readonly migrationsDir: string;
  readonly log: Logger;
  readonly onMigrated: () => Promise<void>;
}

export interface RepeatedMigration extends Repeating {
  /** Why the database is not used yet, or what is odd about it, in a sentence; null when there is nothing to say. */
  readonly problem: () => string | null;
}

/** Calls `onMigrated` when it is done. Says each new reason why it cannot be once. */
export function repeatMigration(options: MigrationOptions): RepeatedMigration {
  const { pool, connectionString, migrationsDir, log, onMigrated } = options;
  let retryMs = MIN_RETRY_MS;
  let problem: string | null = JUST_STARTED;

  function note(reason: string): void {
    if (reason !== problem) log.warn({ reason }, 'the database cannot be used yet; records wait in the spool');
    problem = reason;
  }

  const repeating = repeat(async () => {
    try {
      const { warning } = await judgeDatabase({ connectionString, applicationName: 'tollgate start' });
      const applied = await migrate(pool, migrationsDir, undefined, note);
      if (applied.length > 0) log.info({ applied }, 'the database schema is up to date');
      if (warning !== null) log.warn(warning);
      problem = warning;
      await onMigrated();
      return null;
    } catch (error) {
      note(error instanceof Error ? error.message : String(error));
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      return retryMs;
    }
  });
  return { stop: repeating.stop, problem: () => problem };
}
