/**
 * The data directory and its one owner at a time. The owner is written down in `owner.json` with a heartbeat; another
 * gateway takes over only after a clear sign of death (same boot and pid namespace, and the process is gone) or after
 * 60 s of silence. It does not know what the directory holds beyond that.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { OperatorError } from '../errors.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';
import { isAlive, readOwnIdentity, readRealm } from './process-identity.ts';

const HEARTBEAT_MS = 5_000;
const SILENCE_MS = 60_000;
const POLL_MS = 500;

const ownerSchema = z.object({
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  pid: z.number().int(),
  startTime: z.string(),
  /** Tells two owners with the same pid and start time apart (containers restarted in the same tick). */
  nonce: z.string(),
  heartbeatMs: z.number(),
});
type Owner = Readonly<z.infer<typeof ownerSchema>>;

export interface DataDirectory {
  readonly path: string;
  /** True when the owner before did not leave in an orderly way, so that processes of it may still run. */
  readonly tookOver: boolean;
  /** Gives the directory up. Idempotent. */
  readonly release: () => void;
}

export interface DataDirectoryOptions {
  readonly path: string;
  /** Called once when another owner on a host that cannot be looked at may be alive and its silence is waited for. */
  readonly onWait: (owner: { readonly host: string; readonly pid: number }, waitMs: number) => void;
  /** Called when another gateway took the directory: this one must stop. */
  readonly onLost: () => void;
}

function fail(path: string, cause: unknown): OperatorError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const why: Readonly<Record<string, string>> = {
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'it is on a read-only file system',
    ENOENT: 'no directory can be made there',
    ENOTDIR: 'a part of this path is a file',
    EEXIST: 'it is a file, not a directory',
    ENOSPC: 'the disk is full',
  };
  return new OperatorError(
    `TOLLGATE_DATA_DIR: cannot use ${path}: ${why[code] ?? code}; set it to a directory that this user can write`,
    { cause },
  );
}

function createDirectory(path: string): void {
  const isRoot = process.getuid?.() === 0;
  try {
    // Not `recursive`: Node's never ends where a folder exists that lets none be made in it, such as /proc.
    for (const folder of listAncestors(path)) {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o755 });
    }
    if (!statSync(path).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
    // Root's database runs as another user, who must be able to pass through, but not to look around.
    chmodSync(path, isRoot ? 0o711 : 0o700);
    accessSync(path, constants.W_OK | constants.X_OK);
    // A read-only file system shows only when something is written.
    const probe = join(path, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (cause) {
    throw fail(path, cause);
  }
}

function readOwner(file: string): Owner | null {
  const parsed = ownerSchema.safeParse(readJsonFile(file));
  return parsed.success ? parsed.data : null;
}

/** Creates the file with its content in one step; false when it exists. */
function claim(file: string, owner: Owner): boolean {
  const temporary = `${file}.${owner.nonce}.tmp`;
  writeFileSync(temporary, JSON.stringify(owner), { mode: 0o600, flag: 'w' });
  try {
    linkSync(temporary, file);
    return true;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null;
    if (code === 'EEXIST') return false;
    if (code === 'EACCES' || code === 'ENOSPC' || code === 'EROFS') throw cause;
    return claimWithoutLinks(file, owner);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** For file systems without hard links: a reader may see the file empty for an instant, and takes it for unreadable. */
function claimWithoutLinks(file: string, owner: Owner): boolean {
  try {
    writeFileSync(file, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') return false;
    throw cause;
  }
}

/** Moves a dead owner's file away. Whoever moved a file that is not the dead one's (a race) puts it back. */
function removeDead(file: string, dead: Owner | null, nonce: string): void {
  const aside = `${file}.${nonce}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    // Another starter was faster; the next round sees who owns it now.
    return;
  }
  const moved = readOwner(aside);
  if (moved !== null && moved.nonce !== dead?.nonce) {
    try {
      linkSync(aside, file);
    } catch {
      // Claimed in the meantime; the one whose claim was moved sees it at the next heartbeat and stops.
    }
  }
  rmSync(aside, { force: true });
}

function isSameRealm(owner: Owner, own: Owner): boolean {
  return owner.host === own.host && owner.bootId === own.bootId && owner.pidNamespace === own.pidNamespace;
}

function inUse(path: string, owner: Owner, own: Owner): OperatorError {
  const isLocal = isSameRealm(owner, own);
  const where = isLocal ? '' : ` on ${owner.host}`;
  return new OperatorError(
    `TOLLGATE_DATA_DIR: ${path} is in use by the gateway with pid ${owner.pid}${where}; stop that one (kill ${owner.pid}) or set another directory`,
  );
}

/** Returns when the owner is dead; throws when it is alive. */
async function waitForDeath(file: string, owner: Owner, own: Owner, options: DataDirectoryOptions): Promise<void> {
  if (isSameRealm(owner, own)) {
    if (isAlive(owner)) throw inUse(options.path, owner, own);
    return;
  }
  const age = Date.now() - owner.heartbeatMs;
  // A heartbeat from the future is another clock: then the whole silence is waited for.
  const waitMs = age < 0 ? SILENCE_MS : Math.max(0, SILENCE_MS - age);
  if (waitMs === 0) return;
  options.onWait(owner, waitMs);
  const endMs = Date.now() + waitMs;
  while (Date.now() < endMs) {
    await sleep(POLL_MS);
    const current = readOwner(file);
    if (current === null || current.nonce !== owner.nonce) return;
    if (current.heartbeatMs !== owner.heartbeatMs) throw inUse(options.path, owner, own);
  }
}

export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  createDirectory(options.path);
  const file = join(options.path, 'owner.json');
  const nonce = crypto.randomUUID();
  const own: Owner = {
    host: hostname(),
    ...readRealm(),
    ...readOwnIdentity(),
    nonce,
    heartbeatMs: Date.now(),
  };
  let tookOver = false;
  try {
    while (!claim(file, { ...own, heartbeatMs: Date.now() })) {
      const owner = readOwner(file);
      // Unreadable: half written by a claim without links, or damaged. A moment tells which.
      if (owner === null) await sleep(POLL_MS);
      const settled = readOwner(file);
      if (settled !== null) await waitForDeath(file, settled, own, options);
      removeDead(file, settled, nonce);
      tookOver = true;
    }
  } catch (cause) {
    throw cause instanceof OperatorError ? cause : fail(options.path, cause);
  }

  const heartbeat = setInterval(() => {
    const current = readOwner(file);
    // A file that is gone or damaged is written again; only another's name in it means that we lost.
    if (current !== null && current.nonce !== nonce) {
      clearInterval(heartbeat);
      options.onLost();
      return;
    }
    try {
      writePrivateFile(file, JSON.stringify({ ...own, heartbeatMs: Date.now() }));
    } catch {
      // A full disk must not stop the gateway; on this host the pid is what counts.
    }
  }, HEARTBEAT_MS);
  heartbeat.unref();

  return {
    path: options.path,
    tookOver,
    release: () => {
      clearInterval(heartbeat);
      if (readOwner(file)?.nonce === nonce) rmSync(file, { force: true });
    },
  };
}

/** Every folder from `/` to `path`, for questions about who can reach it. */
export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...listAncestors(parent), path];
}
