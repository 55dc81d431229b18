/**
 * The data directory and its one owner. The owner writes a heartbeat; another gateway takes over when the owner is
 * surely dead (no process, or no holder of its lifeline) or was silent for 60 s.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError, readErrorCode } from '../vocabulary/errors.ts';
import { GATEWAY_LIFELINE, holdLifeline, isLifelineHeld, readLifelineId } from './lifeline.ts';
import { claimOwnerFile, type Owner, readOwner, removeDeadOwner, rewriteOwner } from './owner-file.ts';
import { isAlive, readOwnIdentity, readRealm } from './process-identity.ts';

const HEARTBEAT_MS = 5_000;
const SILENCE_MS = 60_000;
const POLL_MS = 500;
/** An owner is watched for this many heartbeats before it counts as dead, whatever the clocks say. */
const WATCHED_HEARTBEATS = 2.5;

export interface DataDirectory {
  readonly path: string;
  /** A line for the log about what other users may do in it; null for nothing. */
  readonly exposure: string | null;
  /** The former owner did not shut down properly, so processes of it may still run. */
  readonly tookOver: boolean;
  /** The pipe that the gateway's processes hold; null where there is none. */
  readonly lifelineFd: number | null;
  readonly isOurs: () => boolean;
  readonly release: () => void;
}

export interface DataDirectoryOptions {
  readonly path: string;
  /** An owner that cannot be seen may be alive; its silence is waited for. */
  readonly onWait: (owner: { readonly host: string; readonly pid: number }, waitMs: number) => void;
  readonly onLost: () => void;
  readonly heartbeatMs?: number;
  readonly silenceMs?: number;
}

function fail(path: string, cause: unknown): OperatorError {
  const code = readErrorCode(cause) ?? String(cause);
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
    // Not `recursive`: Node loops for ever where no folder can be made, such as in /proc.
    for (const folder of listAncestors(path)) {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o755 });
    }
    if (!statSync(path).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'EEXIST' });
    // Root's database runs as another user, who must pass through.
    closeToOthers(path, isRoot ? 0o711 : 0o700);
    accessSync(path, constants.W_OK | constants.X_OK);
    const probe = join(path, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (cause) {
    throw fail(path, cause);
  }
  refuseForeignFiles(path);
}

const KEPT = [
  'keys.json',
  'node.json',
  'postgres',
  'postgres-password',
  'prices.json',
  'quarantine',
  'spool',
  'standby',
];

/** On a shared volume another user's gateway may have left files that are closed to us. */
function refuseForeignFiles(path: string): void {
  for (const name of KEPT) {
    const file = join(path, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    try {
      accessSync(file, constants.R_OK | constants.W_OK);
    } catch (cause) {
      const own = process.getuid?.() ?? 0;
      throw new OperatorError(
        `TOLLGATE_DATA_DIR: ${file} belongs to user ${stat.uid}, and user ${own} may not use it: start Tollgate as user ${stat.uid}, or give it the files (chown -R ${own} ${path})`,
        { cause },
      );
    }
  }
}

/** A volume of another owner cannot be closed; `accessSync` judges whether it can be used. */
function closeToOthers(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {}
}

/** The execute bit is ignored, since the names of the files are known. */
function describeExposure(path: string): string | null {
  const { mode } = statSync(path);
  const isSticky = (mode & 0o1000) !== 0;
  if ((mode & 0o006) === 0) return null;
  const what = (mode & 0o002) !== 0 && !isSticky ? 'replace files in' : 'see the names of files in';
  return `TOLLGATE_DATA_DIR: everybody on this machine may ${what} ${path}; let its owner close it (chmod o-rwx)`;
}

function isSameRealm(owner: Owner, own: Owner): boolean {
  return owner.host === own.host && owner.bootId === own.bootId && owner.pidNamespace === own.pidNamespace;
}

/** The pipe seen here is the owner's, so the kernel knows whether it lives. */
function isOnSameLifeline(path: string, owner: Owner, own: Owner): boolean {
  const isSameKernel = owner.bootId === own.bootId && own.bootId !== 'unknown';
  return isSameKernel && owner.lifeline !== undefined && owner.lifeline === readLifelineId(path, GATEWAY_LIFELINE);
}

function inUse(path: string, owner: Owner, own: Owner): OperatorError {
  const isLocal = isSameRealm(owner, own);
  // A pid of another host or namespace must not be offered for a kill.
  const where = isLocal ? `with pid ${owner.pid}` : `on ${owner.host} (pid ${owner.pid} there)`;
  const how = isLocal ? `stop that one (kill ${owner.pid})` : 'stop that one there';
  return new OperatorError(
    `TOLLGATE_DATA_DIR: ${path} is in use by the gateway ${where}; ${how} or set another directory`,
  );
}

/** Throws when the owner gives a sign of life. True when `isGone` or the file is another's. */
async function watchOwner(
  file: string,
  owner: Owner,
  limitMs: number,
  isGone: () => boolean,
  refuse: () => OperatorError,
): Promise<boolean> {
  // Monotonic: the time of day may be set meanwhile.
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    await sleep(Math.min(POLL_MS, limitMs));
    const current = readOwner(file);
    if (current === null || current.nonce !== owner.nonce || isGone()) return true;
    if (current.heartbeatMs !== owner.heartbeatMs) throw refuse();
  }
  return false;
}

async function waitForDeath(file: string, owner: Owner, own: Owner, options: DataDirectoryOptions): Promise<void> {
  const { path, heartbeatMs = HEARTBEAT_MS, silenceMs = SILENCE_MS } = options;
  const refuse = () => inUse(path, owner, own);
  if (isSameRealm(owner, own)) {
    if (isAlive(owner)) throw refuse();
    return;
  }
  if (isOnSameLifeline(path, owner, own)) {
    const isGone = () => !isLifelineHeld(path, GATEWAY_LIFELINE);
    if (isGone()) return;
    options.onWait(owner, silenceMs);
    if (await watchOwner(file, owner, silenceMs, isGone, refuse)) return;
    throw new OperatorError(
      `TOLLGATE_DATA_DIR: ${path} belongs to a gateway on ${owner.host} (pid ${owner.pid} there) that says nothing, but processes of it still run on this machine, perhaps suspended; end them or set another directory`,
    );
  }
  // A heartbeat from the future comes from another clock: the whole silence is waited for.
  const ageMs = Math.max(0, Date.now() - owner.heartbeatMs);
  const waitMs = Math.max(WATCHED_HEARTBEATS * heartbeatMs, silenceMs - ageMs);
  options.onWait(owner, waitMs);
  await watchOwner(file, owner, waitMs, () => false, refuse);
}

export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  createDirectory(options.path);
  const file = join(options.path, 'owner.json');
  const nonce = crypto.randomUUID();
  let own: Owner = { host: hostname(), ...readRealm(), ...readOwnIdentity(), nonce, heartbeatMs: Date.now() };
  const beat = (): Owner => ({ ...own, heartbeatMs: Date.now() });
  let tookOver = false;
  let ownerFd: number | null = null;
  try {
    for (;;) {
      ownerFd = claimOwnerFile(file, beat());
      if (ownerFd !== null) break;
      const owner = readOwner(file);
      // Unreadable means half written by a claim without links, or damaged. A moment tells which.
      if (owner === null) await sleep(POLL_MS);
      const settled = readOwner(file);
      if (settled !== null) await waitForDeath(file, settled, own, options);
      removeDeadOwner(file, settled, nonce);
      tookOver = true;
    }
  } catch (cause) {
    throw cause instanceof OperatorError ? cause : fail(options.path, cause);
  }
  // The pipe is held before it is noted, so that a reader can rely on the note.
  const lifelineFd = holdLifeline(options.path, GATEWAY_LIFELINE);
  const lifeline = lifelineFd === null ? null : readLifelineId(options.path, GATEWAY_LIFELINE);
  if (lifeline !== null) own = { ...own, lifeline };

  const isOurs = (): boolean => (readOwner(file)?.nonce ?? nonce) === nonce;

  function sayAlive(): void {
    try {
      if (ownerFd !== null) rewriteOwner(ownerFd, beat());
      // A missing or damaged file is made again; only another's name in it means that we lost.
      if (readOwner(file) !== null) return;
      if (ownerFd !== null) closeSync(ownerFd);
      ownerFd = null;
      rmSync(file, { force: true });
      ownerFd = claimOwnerFile(file, beat());
    } catch {
      // A full or broken disk must not stop the gateway; the lifeline still counts on this machine.
    }
  }
  sayAlive();

  const heartbeat = setInterval(() => {
    if (isOurs()) return sayAlive();
    clearInterval(heartbeat);
    options.onLost();
  }, options.heartbeatMs ?? HEARTBEAT_MS);
  heartbeat.unref();

  return {
    path: options.path,
    exposure: describeExposure(options.path),
    tookOver,
    lifelineFd,
    isOurs,
    release: () => {
      clearInterval(heartbeat);
      if (readOwner(file)?.nonce === nonce) rmSync(file, { force: true });
      for (const fd of [ownerFd, lifelineFd]) if (fd !== null) closeSync(fd);
      ownerFd = null;
    },
  };
}

export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...listAncestors(parent), path];
}
