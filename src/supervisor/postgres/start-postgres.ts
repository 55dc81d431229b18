/** Brings a PostgreSQL server up on our cluster: the one that still runs there, or a new one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { OperatorError } from '../../errors.ts';
import { holdLifeline, isLifelineHeld, POSTGRES_LIFELINE } from '../lifeline.ts';
import { type ProcessIdentity, readStartTime } from '../process-identity.ts';
import { adoptPostgres } from './adopt-postgres.ts';
import {
  type Cluster,
  connectionString,
  DATABASE,
  DEFAULT_PORT,
  type RunningServer,
  START_TIMEOUT_MS,
} from './postgres-cluster.ts';
import { answerWithin, createDatabase, describeConnectionError, readErrorCode } from './postgres-connection.ts';
import { writeSettings } from './postgres-files.ts';
import { STOP_TIMEOUT_MS } from './stop-postgres.ts';

const RETRY_MS = 250;
/** A server that starts writes one segment of its log (16 MiB) or two. */
const LOW_SPACE_BYTES = 64 * 1024 * 1024;

function spawnServer({ files, user }: Cluster): ChildProcess {
  const [command = '', ...args] = [...user.prefix, user.binaries.postgres, '-D', files.cluster];
  const output = openSync(files.log, 'a', 0o600);
  // Held by the server and all its processes, and by nobody else.
  const lifeline = holdLifeline(files.dataDir, POSTGRES_LIFELINE);
  try {
    // In a session of its own: a terminal's Ctrl-C is for the supervisor, which stops the database last.
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

/** What the server said from this byte of its log on: the line that tells why it ended. */
function readReason(file: string, fromByte: number): string {
  const lines = existsSync(file) ? readFileSync(file).subarray(fromByte).toString().trimEnd().split('\n') : [];
  const line = lines.findLast((one) => /FATAL|PANIC|ERROR/.test(one)) ?? lines.at(-1) ?? '';
  // Without time and pid (`%m [%p] `), so that the same reason reads the same.
  return line.replace(/^[\d-]+ [\d:.]+ \S+ \[\d+\] /, '');
}

function describeEnd(end: string | null, cause: unknown): string {
  return end === null ? describeConnectionError(cause) : `it ended with ${end}`;
}

/** Empty unless that is likely to be the reason. */
function describeSpace(cluster: string): string {
  const { bavail, bsize } = statfsSync(cluster);
  const freeBytes = bavail * bsize;
  return freeBytes > LOW_SPACE_BYTES ? '' : `; its disk has ${Math.floor(freeBytes / 1_048_576)} MiB left: free some`;
}

/** One try. Null when the server of a killed postmaster still holds the shared memory: try again. */
async function tryStart(cluster: Cluster, signal: AbortSignal): Promise<RunningServer | null> {
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
  try {
    await answerWithin(url(DATABASE), START_TIMEOUT_MS, () => end !== null || signal.aborted);
  } catch (cause) {
    if (readErrorCode(cause) === '3D000') {
      await createDatabase(url('postgres'), DATABASE);
    } else {
      await endChild(child, ended);
      const line = readReason(files.log, logBytes);
      if (/pre-existing shared memory block/.test(line)) return null;
      throw new OperatorError(
        // With a full disk the log says nothing new either.
        `the embedded PostgreSQL does not start: ${line || describeEnd(end, cause)}${describeSpace(files.cluster)} (its log: ${files.log})`,
        { cause },
      );
    }
  }
  // The program's own pid stays the same through `unshare`, which replaces itself.
  return { identity, connectionString: url(DATABASE), wasAdopted: false, ended };
}

/** One that has not come up, so that there is nothing to save. */
async function endChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGQUIT');
  const late = sleep(STOP_TIMEOUT_MS, 'late' as const, { ref: false });
  if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL');
  await ended;
}

/** Retries while processes of a killed server still hold the shared memory. `signal` ends a start that is under way. */
export async function startPostgres(cluster: Cluster, log: Logger, signal: AbortSignal): Promise<RunningServer> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const adopted = await adoptPostgres(cluster, log, signal);
    if (adopted === null) signal.throwIfAborted();
    // Without a pid file a server may still live, or what it left behind.
    const isInUse = adopted === null && isLifelineHeld(cluster.files.dataDir, POSTGRES_LIFELINE);
    const server = isInUse ? null : (adopted ?? (await tryStart(cluster, signal)));
    if (server !== null) return server;
    if (performance.now() > endMs || signal.aborted) {
      throw new OperatorError(
        `TOLLGATE_DATA_DIR: processes of a killed PostgreSQL still use ${cluster.files.cluster}; end them and start again`,
      );
    }
    await sleep(RETRY_MS);
  }
}
