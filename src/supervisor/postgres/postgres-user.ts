/**
 * Chooses the user of the embedded PostgreSQL, which refuses root and needs every folder above its data and binaries
 * open: root tries `nobody`, then a user namespace, then a copy of the binaries.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { listAncestors } from '../data-directory.ts';
import { copyBinaries, type PostgresBinaries, refusePlatform } from './postgres-binaries.ts';

/** `nobody` on every Linux; `initdb` needs a user with a name. */
const NOBODY = 65_534;
const UNSHARE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] as const;
const PROBE_TIMEOUT_MS = 10_000;

export interface PostgresUser {
  readonly binaries: PostgresBinaries;
  readonly prefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
  /** The owner of the database's files, as the gateway sees it; null for its own user. */
  readonly owner: number | null;
  readonly how: 'own user' | 'nobody' | 'user namespace';
}

function isOpenTo(uid: number, path: string): boolean {
  return listAncestors(path).every((folder) => {
    const stat = statSync(folder);
    if (stat.uid === uid) return (stat.mode & 0o100) !== 0;
    if (stat.gid === uid) return (stat.mode & 0o010) !== 0;
    return (stat.mode & 0o001) !== 0;
  });
}

/** Null when the binary runs, else the reason. */
function probe(user: PostgresUser): string | null {
  const [command = '', ...args] = [...user.prefix, user.binaries.postgres, '--version'];
  const result = spawnSync(command, args, {
    ...user.ids,
    cwd: '/',
    encoding: 'utf8',
    timeout: PROBE_TIMEOUT_MS,
    env: { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  if (result.status === 0) return null;
  return result.error?.message ?? (result.stderr.trim().split('\n')[0] || `exit ${result.status ?? result.signal}`);
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function choose(candidates: readonly PostgresUser[]): PostgresUser {
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const reason = probe(candidate);
    if (reason === null) return candidate;
    reasons.push(`as ${candidate.how}: ${reason}`);
  }
  throw refusePlatform(reasons.join('; ') || 'no way to run it without root');
}

/** Throws an OperatorError that names DATABASE_URL when no way works. */
export function choosePostgresUser(binaries: PostgresBinaries, dataDir: string): PostgresUser {
  const own: PostgresUser = { binaries, prefix: [], ids: {}, owner: null, how: 'own user' };
  const namespace: PostgresUser = { ...own, prefix: UNSHARE, how: 'user namespace' };
  if (process.getuid?.() !== 0) {
    if (hasName()) return choose([own]);
    if (probe(namespace) === null) return namespace;
    // Only `initdb` needs a name.
    if (existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return choose([own]);
    throw refusePlatform(
      `this user, ${process.getuid?.()}, has no name here, which PostgreSQL needs once, for its first start, and user namespaces are not allowed; start it as a user that stands in /etc/passwd`,
    );
  }
  if (process.platform !== 'linux') throw refusePlatform('as root it runs on Linux only; start as another user');
  const nobody: PostgresUser = { ...own, ids: { uid: NOBODY, gid: NOBODY }, owner: NOBODY, how: 'nobody' };
  const isDataOpen = isOpenTo(NOBODY, dataDir);
  if (isDataOpen && isOpenTo(NOBODY, binaries.native) && probe(nobody) === null) return nobody;
  if (probe(namespace) === null) return { ...namespace, owner: 0 };
  if (!isDataOpen) {
    throw refusePlatform(
      `root's database runs as another user, who cannot reach ${dataDir}; or set TOLLGATE_DATA_DIR to a folder that is open to others, such as /var/lib/tollgate`,
    );
  }
  return choose([{ ...nobody, binaries: copyBinaries(binaries, dataDir) }]);
}

/** Does nothing when the top folder has the owner already. */
export function giveTree(path: string, owner: number): void {
  if (lstatSync(path).uid === owner) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) giveTree(child, owner);
    else giveFile(child, owner);
  }
  // The top folder comes last, so that an interrupted change begins again.
  giveFile(path, owner);
}

export function giveFile(path: string, owner: number): void {
  lchownSync(path, owner, owner);
}
