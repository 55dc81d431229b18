/**
 * The database that the control process works with: the operator's (`DATABASE_URL`), which is only looked at, or the
 * embedded one, which is run. A gateway that has been set up starts without it, and says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChildStatus } from '../channel.ts';
import { OperatorError } from '../errors.ts';
import { judgeDatabase } from '../store/judge-database.ts';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { describeConnectionError, pingPostgres, readErrorCode } from './postgres/postgres-connection.ts';

const REACH_LIMIT_MS = 10_000;
const RETRY_MS = 500;

export interface Database {
  readonly connectionString: () => string;
  readonly stop: () => Promise<void>;
  /** Ends what we run without a last write, for the data are another's now. */
  readonly abandon: () => Promise<void>;
  /** Null for a database that we do not run. */
  readonly status: () => ChildStatus | null;
}

export interface DatabaseOptions {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** There is a key snapshot: calls can be proxied without a database. */
  readonly isSetUp: boolean;
  /** A start waits for no database: there is a key snapshot, or the node says in `readyz` that it has none. */
  readonly mayBeAway: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Asked before each start of the embedded one: whether the data directory still is ours. */
  readonly mayRun: () => boolean;
  readonly onMoved: (connectionString: string) => void;
}

/** Host, port and database of a connection string, without user and password. */
function describeTarget(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  return url === null ? 'the database' : `${url.host || (url.searchParams.get('host') ?? 'localhost')}${url.pathname}`;
}

/** Wrong user, password or database name: waiting does not help (SQLSTATE classes 28 and 3D). */
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
    // It answers, and is not one to work with: also a gateway that has run before would only fill its spool.
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
