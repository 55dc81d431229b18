/**
 * The file with the name of the data directory's owner: claimed by at most one, rewritten in place by it, moved away
 * when it is dead. Whether it is dead is judged elsewhere.
 */
import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from './private-file.ts';

/** Always as long, so that a new heartbeat needs no room on a full disk; far more than an owner needs. */
const FILE_BYTES = 1_024;

const ownerSchema = z.object({
  host: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  pid: z.number().int(),
  startTime: z.string(),
  /** Tells two owners with the same pid and start time apart (containers restarted in the same tick). */
  nonce: z.string(),
  heartbeatMs: z.number(),
  /** Which pipe its processes hold; absent for none, and in files of the release before. */
  lifeline: z.string().optional(),
});
export type Owner = Readonly<z.infer<typeof ownerSchema>>;

/** Null when it is missing, or damaged. */
export function readOwner(file: string): Owner | null {
  const parsed = ownerSchema.safeParse(readJsonFile(file));
  return parsed.success ? parsed.data : null;
}

/** In place, on the file that was claimed: one that another gateway has put there is never touched. */
export function rewriteOwner(fd: number, owner: Owner): void {
  writeSync(fd, Buffer.from(JSON.stringify(owner).padEnd(FILE_BYTES)), 0, FILE_BYTES, 0);
}

function create(path: string, owner: Owner): number {
  const fd = openSync(path, 'wx', 0o600);
  try {
    rewriteOwner(fd, owner);
    return fd;
  } catch (cause) {
    // Starts that are refused on a full disk, one after the other, leave nothing behind.
    closeSync(fd);
    rmSync(path, { force: true });
    throw cause;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}

/** Creates the file with its content in one step, and keeps it open; null when it exists. */
export function claimOwnerFile(file: string, owner: Owner): number | null {
  const temporary = `${file}.${owner.nonce}.tmp`;
  rmSync(temporary, { force: true });
  const fd = create(temporary, owner);
  try {
    linkSync(temporary, file);
    return fd;
  } catch (cause) {
    closeSync(fd);
    const code = codeOf(cause);
    if (code === 'EEXIST') return null;
    if (code === 'EACCES' || code === 'ENOSPC' || code === 'EROFS') throw cause;
    return claimWithoutLinks(file, owner);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** For file systems without hard links: a reader may see the file empty for an instant, and takes it for unreadable. */
function claimWithoutLinks(file: string, owner: Owner): number | null {
  try {
    return create(file, owner);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return null;
    throw cause;
  }
}

/** Moves a dead owner's file away. Whoever moved a file that is not the dead one's (a race) puts it back. */
export function removeDeadOwner(file: string, dead: Owner | null, nonce: string): void {
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
