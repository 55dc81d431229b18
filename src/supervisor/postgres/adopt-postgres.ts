/**
 * A PostgreSQL that a killed gateway left alive on our cluster: adopted when it takes our password and is of our version,
 * ended when it cannot be used. Never starts one.
 */
import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { OperatorError } from '../../errors.ts';
import { isAlive, type ProcessIdentity, readStartTime } from '../process-identity.ts';
import { endForeignServer, type ForeignServer, isForeignServerAlive } from './foreign-postgres.ts';
import { type Cluster, connectionString, DATABASE, type RunningServer, START_TIMEOUT_MS } from './postgres-cluster.ts';
import { answerWithin, describeConnectionError, isShuttingDown, type PostgresAnswer } from './postgres-connection.ts';
import { mayBePostgres, readPostmaster } from './postmaster-file.ts';
import { pollEnd, STOP_TIMEOUT_MS, stopPostgres } from './stop-postgres.ts';

/** A live server on our cluster that takes our password, or null when there is none. `signal`: nobody waits any more. */
export async function adoptPostgres(
  { files, user }: Cluster,
  log: Logger,
  signal: AbortSignal,
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
      await stopPostgres(identity, files.cluster, log, 'immediate');
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
