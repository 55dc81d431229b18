/** Our cluster, a server on it, and its address: a socket in a folder, no TCP port. */
import type { ProcessIdentity } from '../process-identity.ts';
import { POSTGRES_USER, type PostgresFiles } from './postgres-files.ts';
import type { PostgresUser } from './postgres-user.ts';

export const DATABASE = 'tollgate';
export const DEFAULT_PORT = 5432;
/** For so long a start may stand still; a recovery that moves may take any time. */
export const START_TIMEOUT_MS = 60_000;

export interface RunningServer {
  readonly identity: ProcessIdentity;
  readonly connectionString: string;
  readonly wasAdopted: boolean;
  /** Resolves to the reason; polled for an adopted server, which is not our child. */
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

export function formatConnectionString({ files, socketDir }: Cluster): string {
  return connectionString(files.password, socketDir, DEFAULT_PORT, DATABASE);
}
