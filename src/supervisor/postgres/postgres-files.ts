/** The files of the embedded PostgreSQL: places, set-up by `initdb`, and configuration. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../vocabulary/errors.ts';
import { writePrivateFile } from '../private-file.ts';
import { giveFile, giveTree, type PostgresUser } from './postgres-user.ts';
import { chooseSharedMemory, type SharedMemory } from './shared-memory.ts';

export const POSTGRES_USER = 'tollgate';
/** `sockaddr_un` holds 107 bytes on Linux, 103 on macOS; the server appends `/.s.PGSQL.5432.lock`. */
const MAX_SOCKET_DIR_BYTES = 80;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const INITDB_TIMEOUT_MS = 60_000;

export interface PostgresFiles {
  readonly dataDir: string;
  readonly cluster: string;
  readonly log: string;
  readonly password: string;
}

export function placePostgresFiles(dataDir: string): PostgresFiles {
  return {
    dataDir,
    cluster: join(dataDir, 'postgres'),
    log: join(dataDir, 'postgres.log'),
    password: readPassword(dataDir),
  };
}

function readPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres-password');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  writePrivateFile(file, `${password}\n`);
  return password;
}

/** A private folder whose path is short enough for a socket: below the data, else a temporary one. */
export function createSocketDir(dataDir: string, user: PostgresUser): string {
  const near = join(dataDir, 'socket');
  if (Buffer.byteLength(near) <= MAX_SOCKET_DIR_BYTES) {
    try {
      mkdirSync(near, { recursive: true });
      return closeSocketDir(near, user);
    } catch {}
  }
  const base = Buffer.byteLength(tmpdir()) < MAX_SOCKET_DIR_BYTES - 20 ? tmpdir() : '/tmp';
  return closeSocketDir(mkdtempSync(join(base, 'tollgate-')), user);
}

function closeSocketDir(folder: string, user: PostgresUser): string {
  if (user.owner !== null) giveFile(folder, user.owner);
  chmodSync(folder, 0o700);
  return folder;
}

/** Removes a temporary one; the folder below the data stays. */
export function removeSocketDir(folder: string, dataDir: string): void {
  if (dirname(folder) !== dataDir) rmSync(folder, { recursive: true, force: true });
}

function formatSettings(socketDir: string, sharedMemory: SharedMemory): string {
  const settings: Readonly<Record<string, string>> = {
    listen_addresses: '',
    // A list; the quotes keep a comma in the path.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    max_connections: '40',
    shared_buffers: '128MB',
    dynamic_shared_memory_type: sharedMemory,
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    // Parallel queries would take the proxies' cores and more /dev/shm than containers have.
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    jit: 'off',
    huge_pages: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    wal_compression: 'on',
    min_wal_size: '80MB',
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    log_min_messages: 'warning',
    // Statements may hold what clients sent.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written by Tollgate at each start; changes here are lost.\n${lines.join('\n')}\n`;
}

export function writeSettings(files: PostgresFiles, socketDir: string, user: PostgresUser): void {
  const file = join(files.cluster, 'postgresql.conf');
  const text = formatSettings(socketDir, chooseSharedMemory());
  // Written only when changed and never half, which a full disk would turn into a server without settings.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    const fresh = `${file}.new`;
    writeFileSync(fresh, text, { mode: 0o600 });
    if (user.owner !== null) giveFile(fresh, user.owner);
    renameSync(fresh, file);
  }
  const logBytes = statSync(files.log, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > MAX_LOG_BYTES) truncateSync(files.log);
}

function runInitdb(user: PostgresUser, args: readonly string[]): Promise<string | null> {
  const [command = '', ...rest] = [...user.prefix, user.binaries.initdb, ...args];
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, rest, {
      ...user.ids,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INITDB_TIMEOUT_MS,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output = `${output}${chunk.toString()}`.slice(-2_000);
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) =>
      resolve(code === 0 ? null : output.trim().split('\n').slice(-3).join(' ') || `exit ${code ?? signal}`),
    );
  });
}

/** Made in a side folder and moved into place, so that an interrupted set-up is begun again. */
async function createCluster(files: PostgresFiles, dataDir: string, user: PostgresUser): Promise<void> {
  const fresh = join(dataDir, 'postgres-new');
  const passwordFile = join(dataDir, 'postgres-initdb-password');
  rmSync(fresh, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(fresh, { mode: 0o700 });
  try {
    writeFileSync(passwordFile, `${files.password}\n`, { mode: 0o600, flag: 'wx' });
    if (user.owner !== null) {
      giveFile(fresh, user.owner);
      giveFile(passwordFile, user.owner);
    }
    const failure = await runInitdb(user, [
      '-D',
      fresh,
      '-U',
      POSTGRES_USER,
      `--pwfile=${passwordFile}`,
      '-A',
      'scram-sha-256',
      // PostgreSQL's own locale is the same on every platform, and no update of glibc breaks its indexes.
      ...['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
      '--no-sync',
      '--no-instructions',
      '-c',
      `dynamic_shared_memory_type=${chooseSharedMemory()}`,
    ]);
    if (failure !== null) {
      throw new OperatorError(
        `the embedded PostgreSQL could not be set up in ${dataDir} (${failure}): mend that, or set DATABASE_URL`,
      );
    }
    renameSync(fresh, files.cluster);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Makes the cluster if there is none, checks its version, and sets its owner. */
export async function prepareCluster(files: PostgresFiles, dataDir: string, user: PostgresUser): Promise<void> {
  const versionFile = join(files.cluster, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    await createCluster(files, dataDir, user);
    return;
  }
  const found = readFileSync(versionFile, 'utf8').trim();
  const major = user.binaries.version.split('.')[0];
  if (found !== major) {
    throw new OperatorError(
      `TOLLGATE_DATA_DIR: ${files.cluster} was made by PostgreSQL ${found}, and this version brings ${major}: export with the former version of Tollgate, or set DATABASE_URL`,
    );
  }
  const owner = user.owner ?? process.getuid?.() ?? 0;
  try {
    giveTree(files.cluster, owner);
    // PostgreSQL refuses a folder that others may write, and a volume may be opened to its group at each mount.
    chmodSync(files.cluster, 0o700);
  } catch (cause) {
    const { uid } = statSync(files.cluster);
    throw new OperatorError(
      `TOLLGATE_DATA_DIR: ${files.cluster} belongs to user ${uid}, and PostgreSQL runs only as the owner of its files: start Tollgate as user ${uid}, or give it the folder (chown -R ${owner} ${files.cluster})`,
      { cause },
    );
  }
}
