/** Adopts a PostgreSQL that a killed gateway left, if password and version fit; else ends it. */
import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { OperatorError } from '../../vocabulary/errors.ts';
import { isAlive, type ProcessIdentity, readStartTime } from '../process-identity.ts';
import { awaitAnswer } from './await-answer.ts';
import { endForeignServer, type ForeignServer, isForeignServerAlive } from './foreign-postgres.ts';
import { type Cluster, connectionString, DATABASE, type RunningServer } from './postgres-cluster.ts';
import { describeConnectionError } from './postgres-connection.ts';
import { mayBePostgres, readPostmaster } from './postmaster-file.ts';
import { isShuttingDown } from './standstill.ts';
import { pollEnd, STOP_TIMEOUT_MS, stopPostgres } from './stop-postgres.ts';

/** Null when there is none. `signal`: the gateway stops. `startLimitMs`: for so long a start may stand still. */
export async function adoptPostgres(
  { files, user }: Cluster,
  log: Logger,
  signal: AbortSignal,
  startLimitMs: number,
): Promise<RunningServer | null> {
  const found = readPostmaster(files.cluster);
  if (found === null) return null;
  const url = connectionString(files.password, found.socketDir, found.port, 'postgres');
  if (!mayBePostgres(found.pid, files.cluster)) {
    const foreign: ForeignServer = { ...found, url, dataDir: files.dataDir, cluster: files.cluster };
    if (await isForeignServerAlive(foreign)) {
      await endForeignServer(foreign, log);
      return null;
    }
    // The pid of a dead server now belongs to another program, which would keep PostgreSQL from starting.
    rmSync(join(files.cluster, 'postmaster.pid'), { force: true });
    return null;
  }
  const identity: ProcessIdentity = { pid: found.pid, startTime: readStartTime(found.pid) ?? 'gone' };
  const isGone = () => !isAlive(identity);
  const limitMs = found.isReady ? STOP_TIMEOUT_MS : startLimitMs;
  const isOver = () => isGone() || signal.aborted;
  const awaited = await awaitAnswer({ url, postmaster: found.pid, limitMs, isOver, log });
  if (awaited.kind === 'failed') {
    const { cause, stoodAt } = awaited;
    if (isGone()) return null;
    // On Linux its working directory has shown that it is ours. One that hangs in its shutdown or its recovery never
    // ends, and a stopping gateway needs none that is still starting.
    const isStuck = isShuttingDown(cause) || stoodAt !== null;
    if (process.platform === 'linux' && (isStuck || signal.aborted)) {
      if (isStuck) log.error({ pid: found.pid, stoodAt }, 'PostgreSQL hangs; ending it');
      await stopPostgres(identity, files.cluster, log, 'immediate');
      return null;
    }
    throw new OperatorError(
      `TOLLGATE_DATA_DIR: a PostgreSQL (pid ${found.pid}) runs on ${files.cluster} and does not answer (${describeConnectionError(cause)}); stop it with: kill -INT ${found.pid}`,
      { cause },
    );
  }
  const { answer } = awaited;
  if (answer.dataDirectory !== null && realpathSync(answer.dataDirectory) !== realpathSync(files.cluster)) return null;
  if (answer.version !== user.binaries.version) {
    log.info({ pid: found.pid, version: answer.version }, 'stopping the PostgreSQL of another version');
    await stopPostgres(identity, files.cluster, log);
    return null;
  }
  return {
    identity,
    connectionString: connectionString(files.password, found.socketDir, found.port, DATABASE),
    wasAdopted: true,
    ended: pollEnd(identity, files.cluster),
  };
}
