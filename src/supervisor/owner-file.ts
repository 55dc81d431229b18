/** `owner.json`: claimed once, rewritten in place, moved away when the owner is dead. */
import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { readErrorCode } from '../vocabulary/errors.ts';
import { readJsonFile } from './private-file.ts';

/** A fixed size, so that a heartbeat needs no room on a full disk. */
const FILE_BYTES = 1_024;

const ownerSchema = z.object({
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  pid: z.number().int(),
  startTime: z.string(),
  /** Distinguishes owners with the same pid and start time (containers restarted in the same tick). */
  nonce: z.string(),
  heartbeatMs: z.number(),
  /** The pipe that its processes hold; absent for none and in older files. */
  lifeline: z.string().optional(),
});
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

export function readOwner(file: string): Owner | null {
  const parsed = ownerSchema.safeParse(readJsonFile(file));
  return parsed.success ? parsed.data : null;
}

/** Writes in place to the claimed file, never to another gateway's. */
export function rewriteOwner(fd: number, owner: Owner): void {
  writeSync(fd, Buffer.from(JSON.stringify(owner).padEnd(FILE_BYTES)), 0, FILE_BYTES, 0);
}

function create(path: string, owner: Owner): number {
  const fd = openSync(path, 'wx', 0o600);
  try {
    rewriteOwner(fd, owner);
    return fd;
  } catch (cause) {
    // A start that a full disk refuses leaves nothing behind.
    closeSync(fd);
    rmSync(path, { force: true });
    throw cause;
  }
}

/** Creates the file atomically and keeps it open; null when it exists. */
export function claimOwnerFile(file: string, owner: Owner): number | null {
  const temporary = `${file}.${owner.nonce}.tmp`;
  rmSync(temporary, { force: true });
  const fd = create(temporary, owner);
  try {
    linkSync(temporary, file);
    return fd;
  } catch (cause) {
    closeSync(fd);
    const code = readErrorCode(cause);
    if (code === 'EEXIST') return null;
    if (code === 'EACCES' || code === 'ENOSPC' || code === 'EROFS') throw cause;
    return claimWithoutLinks(file, owner);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function claimWithoutLinks(file: string, owner: Owner): number | null {
  try {
    return create(file, owner);
  } catch (cause) {
    if (readErrorCode(cause) === 'EEXIST') return null;
    throw cause;
  }
}

/** Moves a dead owner's file away, and puts another's back after a race. */
export function removeDeadOwner(file: string, dead: Owner | null, nonce: string): void {
  const aside = `${file}.${nonce}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readOwner(aside);
  if (moved !== null && moved.nonce !== dead?.nonce) {
    try {
      linkSync(aside, file);
    } catch {
      // Claimed meanwhile; the owner whose claim was moved sees it at the next heartbeat and stops.
    }
  }
  rmSync(aside, { force: true });
}
