/** Judges the database and migrates its schema, once, as soon as it can be used. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { NodeRole } from '../../vocabulary/config.ts';
import { judgeDatabase } from '../store/judge-database.ts';
import { migrate } from '../store/migrate.ts';
import { type Repeating, repeat } from './repeat.ts';

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 5_000;
/** A migration of a large log takes long, which is no fault. */
const JUST_STARTED = 'the gateway has just started, and looks at it or brings its tables up to date';

export interface MigrationOptions {
  readonly pool: pg.Pool;
  readonly connectionString: string;
  readonly role: NodeRole;
  readonly migrationsDir: string;
  readonly log: Logger;
  readonly onMigrated: () => Promise<void>;
}

export interface RepeatedMigration extends Repeating {
  readonly problem: () => string | null;
}

/** Logs each new reason for waiting once. */
export function repeatMigration(options: MigrationOptions): RepeatedMigration {
  const { pool, connectionString, role, migrationsDir, log, onMigrated } = options;
  let retryMs = MIN_RETRY_MS;
  let problem: string | null = JUST_STARTED;

  function note(reason: string): void {
    if (reason !== problem) log.warn({ reason }, 'the database cannot be used yet; records wait in the spool');
    problem = reason;
  }

  const repeating = repeat(async () => {
    try {
      const { warning } = await judgeDatabase({ connectionString, applicationName: 'tollgate start' }, role);
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
