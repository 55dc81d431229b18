/** Our cluster, a server that runs on it, and how that one is reached: a socket in a folder, no TCP port. */
import type { ProcessIdentity } from '../process-identity.ts';
import { POSTGRES_USER, type PostgresFiles } from './postgres-files.ts';
import type { PostgresUser } from './postgres-user.ts';

export const DATABASE = 'tollgate';
/** Only a part of the socket's name. */
export const DEFAULT_PORT = 5432;
/** Until a server answers: recovery after a crash replays up to `max_wal_size`, and a slow disk needs its time. */
export const START_TIMEOUT_MS = 60_000;

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

export function connectionString(password: string, socketDir: string, port: number, database: string): string {
  return `postgresql://${POSTGRES_USER}:${password}@/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`;
}

/** How a server that we start will be reached. */
export function formatConnectionString({ files, socketDir }: Cluster): string {
  return connectionString(files.password, socketDir, DEFAULT_PORT, DATABASE);
}
