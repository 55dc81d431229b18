/**
 * A PostgreSQL on our cluster that a gateway in another pid namespace (a container) left alive. Its pid means nothing
 * here; its lifeline and its socket tell that it lives. It is ended through its own password, or by removing its pid
 * file.
 */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { OperatorError, readErrorCode } from '../../vocabulary/errors.ts';
import { isLifelineHeld, POSTGRES_LIFELINE } from '../lifeline.ts';
import { describeConnectionError, runInServer } from './postgres-connection.ts';

const CONNECT_LIMIT_MS = 3_000;
const POLL_MS = 100;
const END_LIMIT_MS = 15_000;
/** A server checks its pid file once a minute and shuts down when the file does not name it. */
const FILE_LIMIT_MS = 75_000;

export interface ForeignServer {
  readonly dataDir: string;
  readonly cluster: string;
  readonly pid: number;
  readonly socketDir: string;
  readonly port: number;
  readonly url: string;
}

/** A socket file outlives a killed server; a connection is taken only while a process listens, even a suspended one. */
function isListening({ socketDir, port }: ForeignServer): Promise<boolean> {
  if (socketDir === '') return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(join(socketDir, `.s.PGSQL.${port}`));
    const settle = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => settle(true));
    socket.once('connect', () => settle(true));
    // EAGAIN: the queue of a living server is full.
    socket.once('error', (error) => settle(readErrorCode(error) === 'EAGAIN'));
  });
}

export async function isForeignServerAlive(server: ForeignServer): Promise<boolean> {
  return isLifelineHeld(server.dataDir, POSTGRES_LIFELINE) || (await isListening(server));
}

async function isGoneWithin(server: ForeignServer, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (await isForeignServerAlive(server)) {
    if (performance.now() > endMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Throws an OperatorError when it does not end: the cluster must not be opened then. */
export async function endForeignServer(server: ForeignServer, log: Logger): Promise<void> {
  log.warn({ pidThere: server.pid }, 'ending the PostgreSQL of a gateway in another pid namespace');
  // The pid is right in the server's own namespace, where the command runs.
  await runInServer(server.url, `kill -INT ${server.pid}`).catch((error: unknown) => {
    log.debug({ reason: describeConnectionError(error) }, 'it was not asked, or ended while it was');
  });
  if (await isGoneWithin(server, END_LIMIT_MS)) return;
  log.warn('it does not end; taking its pid file away, which ends it within a minute');
  rmSync(join(server.cluster, 'postmaster.pid'), { force: true });
  if (await isGoneWithin(server, FILE_LIMIT_MS)) return;
  throw new OperatorError(
    `TOLLGATE_DATA_DIR: processes of another PostgreSQL use ${server.cluster}, perhaps in a suspended container; end them`,
  );
}
