/** Opens the operator's database (`DATABASE_URL`), which is only checked, or runs the embedded one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { judgeDatabase } from '../control/store/judge-database.ts';
import type { ChildStatus } from '../vocabulary/channel.ts';
import { OperatorError, readErrorCode } from '../vocabulary/errors.ts';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { describeConnectionError, pingPostgres } from './postgres/postgres-connection.ts';

const REACH_LIMIT_MS = 10_000;
const RETRY_MS = 500;

export interface Database {
  readonly connectionString: () => string;
  readonly stop: () => Promise<void>;
  /** Ends the embedded server without a last write: another gateway owns the data. */
  readonly abandon: () => Promise<void>;
  readonly status: () => ChildStatus | null;
}

export interface DatabaseOptions {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** A key snapshot is on file: calls can be proxied without a database. */
  readonly isSetUp: boolean;
  /** The start does not wait for the database; without keys `readyz` says so. */
  readonly mayBeAway: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly mayRun: () => boolean;
  readonly onMoved: (connectionString: string) => void;
}

function describeTarget(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  return url === null ? 'the database' : `${url.host || (url.searchParams.get('host') ?? 'localhost')}${url.pathname}`;
}

/** Wrong user, password or database name (SQLSTATE classes 28 and 3D). */
function isHopeless(error: unknown): boolean {
  return /^(28|3D)/.test(readErrorCode(error) ?? '');
}

async function reach(databaseUrl: string, limitMs: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      await pingPostgres(databaseUrl);
      await judgeDatabase({ connectionString: databaseUrl, applicationName: 'tollgate supervisor' });
      return;
    } catch (error) {
      if (error instanceof OperatorError || isHopeless(error) || performance.now() + RETRY_MS > endMs) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function openGiven(databaseUrl: string, options: DatabaseOptions): Promise<Database> {
  try {
    await reach(databaseUrl, options.mayBeAway ? 0 : REACH_LIMIT_MS, options.signal);
  } catch (cause) {
    // The database answers but is unusable: even a gateway with keys would only fill its spool.
    if (options.signal.aborted || cause instanceof OperatorError) throw cause;
    const target = describeTarget(databaseUrl);
    const reason = describeConnectionError(cause);
    if (!options.mayBeAway) {
      throw new OperatorError(`DATABASE_URL: no connection to ${target} (${reason})`, { cause });
    }
    options.log.warn(
      { target, reason },
      options.isSetUp
        ? 'the database is away: calls are proxied and kept until it is back'
        : 'the database is away, and this node has no keys yet: it takes no calls until it has read them there',
    );
  }
  return { connectionString: () => databaseUrl, stop: async () => {}, abandon: async () => {}, status: () => null };
}

export function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.databaseUrl !== null) return openGiven(options.databaseUrl, options);
  return startEmbeddedPostgres({
    dataDir: options.dataDir,
    log: options.log,
    mayBeAway: options.isSetUp,
    mayRun: options.mayRun,
    signal: options.signal,
    onMoved: options.onMoved,
  });
}
