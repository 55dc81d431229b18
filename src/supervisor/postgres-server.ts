/**
 * One PostgreSQL server on our cluster: started, or adopted when a killed gateway left it alive, and stopped. A pid is
 * signalled only if it is our own child, or if the server answered our password.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { OperatorError } from '../errors.ts';
import { endForeignServer, type ForeignServer, isForeignServerAlive } from './foreign-postgres.ts';
import { holdLifeline, isLifelineHeld, POSTGRES_LIFELINE } from './lifeline.ts';
import {
  askPostgres,
  createDatabase,
  describeConnectionError,
  isShuttingDown,
  type PostgresAnswer,
  readErrorCode,
} from './postgres-connection.ts';
import { POSTGRES_USER, type PostgresFiles, writeSettings } from './postgres-files.ts';
import type { PostgresUser } from './postgres-user.ts';
import { isAlive, type ProcessIdentity, readStartTime } from './process-identity.ts';

const DATABASE = 'tollgate';
/** Only a part of the socket's name: the server listens on no TCP port. */
const DEFAULT_PORT = 5432;
/** Recovery after a crash replays up to `max_wal_size`; a slow disk needs its time. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const RETRY_MS = 250;
const WATCH_MS = 1_000;
/** Each look at a server that seems well is a connection. */
const STUCK_WATCH_MS = 10_000;
const STOP_TIMEOUT_MS = 10_000;
/** A server that starts writes one segment of its log (16 MiB) or two. */
const LOW_SPACE_BYTES = 64 * 1024 * 1024;

/** Lines of `postmaster.pid` (PostgreSQL's miscadmin.h): pid, data directory, start, port, socket folder, address, shared memory, status. */
interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  readonly socketDir: string;
  readonly isReady: boolean;
}

export interface RunningServer {
  readonly identity: ProcessIdentity;
  readonly connectionString: string;
  readonly wasAdopted: boolean;
  /** Why it ended; polled for an adopted server, which is not our child. */
  readonly ended: Promise<string>;
}

export interface Cluster {
  readonly files: PostgresFiles;
  readonly user: PostgresUser;
  readonly socketDir: string;
}

function connectionString(password: string, socketDir: string, port: number, database: string): string {
  return `postgresql://${POSTGRES_USER}:${password}@/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`;
}

/** How a server that we start will be reached. */
export function formatConnectionString({ files, socketDir }: Cluster): string {
  return connectionString(files.password, socketDir, DEFAULT_PORT, DATABASE);
}

function readPostmaster(cluster: string): PostmasterFile | null {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), socketDir: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
}

/** Whether the pid in a pid file still is a server on this cluster; when it cannot be seen, true. */
function mayBePostgres(pid: number, cluster: string): boolean {
  if (readStartTime(pid) === null) return false;
  if (process.platform !== 'linux') return true;
  try {
    // A server changes into its data directory.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return true;
  }
}

/** Ends early when `isOver`: the server has gone, or nobody waits for it any more. */
async function answerWithin(url: string, timeoutMs: number, isOver: () => boolean): Promise<PostgresAnswer> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await askPostgres(url);
    } catch (error) {
      if (readErrorCode(error) === '3D000' || isOver() || performance.now() > endMs) throw error;
      await sleep(POLL_MS);
    }
  }
}

async function waitForEnd(identity: ProcessIdentity, cluster: string, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    // A server that was adopted may linger a second as somebody's zombie: its pid file goes first.
    if (!isAlive(identity) || readPostmaster(cluster)?.pid !== identity.pid) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** SIGINT is PostgreSQL's fast shutdown; SIGQUIT its immediate one, which writes nothing (recovery at the next start). */
const STOP_SIGNALS = { fast: ['SIGINT', 'SIGQUIT', 'SIGKILL'], immediate: ['SIGQUIT', 'SIGKILL'] } as const;

export async function stopServer(
  identity: ProcessIdentity,
  cluster: string,
  log: Logger,
  how: keyof typeof STOP_SIGNALS = 'fast',
): Promise<void> {
  for (const signal of STOP_SIGNALS[how]) {
    if (!isAlive(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch {
      // It ended in this instant.
      return;
    }
    if (await waitForEnd(identity, cluster, STOP_TIMEOUT_MS)) return;
    log.warn({ pid: identity.pid, signal }, 'PostgreSQL does not stop');
  }
}

/**
 * Ends a server that was told to stop by somebody else and does not come to its end: PostgreSQL 18 can hang there for ever
 * when that happens during its recovery. Returns when the server is gone.
 */
export async function endWhenStuck(
  server: RunningServer,
  cluster: Cluster,
  log: Logger,
  limitMs: number,
): Promise<void> {
  let sinceMs: number | null = null;
  let isGone = false;
  void server.ended.then(() => {
    isGone = true;
  });
  while (!isGone) {
    await Promise.race([server.ended, sleep(Math.min(STUCK_WATCH_MS, limitMs), undefined, { ref: false })]);
    if (isGone) return;
    const isStopping = await askPostgres(server.connectionString).then(() => false, isShuttingDown);
    sinceMs = isStopping ? (sinceMs ?? performance.now()) : null;
    if (sinceMs === null || performance.now() - sinceMs < limitMs) continue;
    log.error({ pid: server.identity.pid, limitMs }, 'PostgreSQL hangs in its shutdown; ending it');
    await stopServer(server.identity, cluster.files.cluster, log, 'immediate');
  }
}

async function pollEnd(identity: ProcessIdentity, cluster: string): Promise<string> {
  while (isAlive(identity) && readPostmaster(cluster)?.pid === identity.pid) {
    await sleep(WATCH_MS, undefined, { ref: false });
  }
  return 'ended';
}

/** A live server on our cluster that takes our password, or null when there is none. */
async function adopt({ files, user }: Cluster, log: Logger, signal: AbortSignal): Promise<RunningServer | null> {
  const found = readPostmaster(files.cluster);
  if (found === null) return null;
  const url = connectionString(files.password, found.socketDir, found.port, 'postgres');
  if (!mayBePostgres(found.pid, files.cluster)) {
    const foreign: ForeignServer = { ...found, url, dataDir: files.dataDir, cluster: files.cluster };
    if (await isForeignServerAlive(foreign)) {
      await endForeignServer(foreign, log);
      return null;
    }
    // The pid of a dead server, given to another program: PostgreSQL itself would refuse to start because of it.
    rmSync(join(files.cluster, 'postmaster.pid'), { force: true });
    return null;
  }
  const identity: ProcessIdentity = { pid: found.pid, startTime: readStartTime(found.pid) ?? 'gone' };
  const isGone = () => !isAlive(identity);
  let answer: PostgresAnswer;
  try {
    const limitMs = found.isReady ? STOP_TIMEOUT_MS : START_TIMEOUT_MS;
    answer = await answerWithin(url, limitMs, () => isGone() || signal.aborted);
  } catch (cause) {
    if (isGone()) return null;
    // On Linux its working directory has shown that it is ours. One that hangs in its shutdown would do so for ever, and
    // one that has not come up is of no use to a gateway that stops.
    if (process.platform === 'linux' && (isShuttingDown(cause) || signal.aborted)) {
      await stopServer(identity, files.cluster, log, 'immediate');
      return null;
    }
    throw new OperatorError(
      `TOLLGATE_DATA_DIR: a PostgreSQL (pid ${found.pid}) runs on ${files.cluster} and does not answer (${describeConnectionError(cause)}); stop it with: kill -INT ${found.pid}`,
      { cause },
    );
  }
  if (answer.dataDirectory !== null && realpathSync(answer.dataDirectory) !== realpathSync(files.cluster)) return null;
  if (answer.version !== user.binaries.version) {
    log.info({ pid: found.pid, version: answer.version }, 'stopping the PostgreSQL of another version');
    await stopServer(identity, files.cluster, log);
    return null;
  }
  return {
    identity,
    connectionString: connectionString(files.password, found.socketDir, found.port, DATABASE),
    wasAdopted: true,
    ended: pollEnd(identity, files.cluster),
  };
}

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
export async function startServer(cluster: Cluster, log: Logger, signal: AbortSignal): Promise<RunningServer> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const adopted = await adopt(cluster, log, signal);
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
