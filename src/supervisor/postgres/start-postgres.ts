/** Starts a PostgreSQL server on our cluster, or adopts the one that still runs there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { OperatorError, readErrorCode } from '../../vocabulary/errors.ts';
import { holdLifeline, isLifelineHeld, POSTGRES_LIFELINE } from '../lifeline.ts';
import { type ProcessIdentity, readStartTime } from '../process-identity.ts';
import { adoptPostgres } from './adopt-postgres.ts';
import { awaitAnswer } from './await-answer.ts';
import {
  type Cluster,
  connectionString,
  DATABASE,
  DEFAULT_PORT,
  type RunningServer,
  START_TIMEOUT_MS,
} from './postgres-cluster.ts';
import { createDatabase, describeConnectionError } from './postgres-connection.ts';
import { writeSettings } from './postgres-files.ts';
import { STOP_TIMEOUT_MS } from './stop-postgres.ts';

const RETRY_MS = 250;
/** A start writes one segment or two of its log (16 MiB each). */
const LOW_SPACE_BYTES = 64 * 1024 * 1024;

function spawnServer({ files, user }: Cluster): ChildProcess {
  const [command = '', ...args] = [...user.prefix, user.binaries.postgres, '-D', files.cluster];
  const output = openSync(files.log, 'a', 0o600);
  const lifeline = holdLifeline(files.dataDir, POSTGRES_LIFELINE);
  try {
    // Its own session: a terminal's Ctrl-C must not end it before the supervisor does.
    return spawn(command, args, {
      ...user.ids,
      cwd: '/',
      detached: true,
      stdio: ['ignore', output, output, lifeline ?? 'ignore'],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
    });
  } finally {
    closeSync(output);
    if (lifeline !== null) closeSync(lifeline);
  }
}

/** The line of its log, from this byte on, that tells why it ended. */
function readReason(file: string, fromByte: number): string {
  const lines = existsSync(file) ? readFileSync(file).subarray(fromByte).toString().trimEnd().split('\n') : [];
  const line = lines.findLast((one) => /FATAL|PANIC|ERROR/.test(one)) ?? lines.at(-1) ?? '';
  // Drops time and pid (`%m [%p] `), so that the same reason reads the same.
  return line.replace(/^[\d-]+ [\d:.]+ \S+ \[\d+\] /, '');
}

function describeEnd(end: string | null, cause: unknown): string {
  return end === null ? describeConnectionError(cause) : `it ended with ${end}`;
}

/** Empty unless space is likely to be the reason. */
function describeSpace(cluster: string): string {
  const { bavail, bsize } = statfsSync(cluster);
  const freeBytes = bavail * bsize;
  return freeBytes > LOW_SPACE_BYTES ? '' : `; its disk has ${Math.floor(freeBytes / 1_048_576)} MiB left: free some`;
}

/** Null when a killed server's processes still hold the shared memory: try again. */
async function tryStart(
  cluster: Cluster,
  log: Logger,
  signal: AbortSignal,
  limitMs: number,
): Promise<RunningServer | null> {
  const { files, user, socketDir } = cluster;
  writeSettings(files, socketDir, user);
  const logBytes = statSync(files.log, { throwIfNoEntry: false })?.size ?? 0;
  const child = spawnServer(cluster);
  let end: string | null = null;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
  }).then((reason) => {
    end = reason;
    return reason;
  });
  const identity: ProcessIdentity = {
    pid: child.pid ?? -1,
    startTime: (child.pid === undefined ? null : readStartTime(child.pid)) ?? 'gone',
  };
  const url = (database: string) => connectionString(files.password, socketDir, DEFAULT_PORT, database);
  // `unshare` replaces itself, so the pid stays the server's.
  const awaited = await awaitAnswer({
    url: url(DATABASE),
    postmaster: identity.pid,
    limitMs,
    isOver: () => end !== null || signal.aborted,
    log,
  });
  if (awaited.kind === 'failed') {
    const { cause } = awaited;
    if (readErrorCode(cause) === '3D000') {
      await createDatabase(url('postgres'), DATABASE);
    } else {
      await endChild(child, ended);
      const line = readReason(files.log, logBytes);
      if (/pre-existing shared memory block/.test(line)) return null;
      throw new OperatorError(
        // A full disk keeps the log from saying so.
        `the embedded PostgreSQL does not start: ${line || describeEnd(end, cause)}${describeSpace(files.cluster)} (its log: ${files.log})`,
        { cause },
      );
    }
  }
  return { identity, connectionString: url(DATABASE), wasAdopted: false, ended };
}

async function endChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGQUIT');
  const late = sleep(STOP_TIMEOUT_MS, 'late' as const, { ref: false });
  if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL');
  await ended;
}

/**
 * Retries while a killed server's processes hold the shared memory. `signal` ends a start that is under way. `limitMs`:
 * for so long a start may stand still.
 */
export async function startPostgres(
  cluster: Cluster,
  log: Logger,
  signal: AbortSignal,
  limitMs = START_TIMEOUT_MS,
): Promise<RunningServer> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const adopted = await adoptPostgres(cluster, log, signal, limitMs);
    if (adopted === null) signal.throwIfAborted();
    // A server or its rest may live without a pid file.
    const isInUse = adopted === null && isLifelineHeld(cluster.files.dataDir, POSTGRES_LIFELINE);
    const server = isInUse ? null : (adopted ?? (await tryStart(cluster, log, signal, limitMs)));
    if (server !== null) return server;
    if (performance.now() > endMs || signal.aborted) {
      throw new OperatorError(
        `TOLLGATE_DATA_DIR: processes of a killed PostgreSQL still use ${cluster.files.cluster}; end them and start again`,
      );
    }
    await sleep(RETRY_MS);
  }
}
