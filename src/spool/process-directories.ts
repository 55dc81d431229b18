/**
 * The files around the reading of a spool: which process directories there are, removing what is stored, and putting
 * damaged segments aside for a person to look at. Foreign files are left alone until their directory is removed.
 */
import { copyFile, mkdir, readdir, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallTally } from './call-tally.ts';
import { CURSOR_NAME, CURSOR_TEMPORARY_NAME, type SpoolPosition, writeCursor, writeCursorOver } from './cursor.ts';
import { LOSSES_NAME } from './losses-file.ts';
import { RESERVE_NAME } from './reserve.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

/** Bytes of damaged segments that are kept; beyond it damage is only counted. */
const MAX_QUARANTINE_BYTES = 512 * 1024 * 1024;

/** Names of the process directories, in the order in which they were laid out. A directory without any of our files is not one. */
export async function listProcessDirectories(spoolDir: string): Promise<readonly string[]> {
  const found: { name: string; bornMs: number }[] = [];
  for (const entry of await readdir(spoolDir, { withFileTypes: true }).catch(ifMissing)) {
    if (!entry.isDirectory()) continue;
    const dir = join(spoolDir, entry.name);
    const names = await readdir(dir).catch(() => []);
    if (!names.some(isOurs)) continue;
    const info = await stat(dir).catch(() => null);
    if (info !== null) found.push({ name: entry.name, bornMs: info.birthtimeMs });
  }
  return found.sort((a, b) => a.bornMs - b.bornMs || (a.name < b.name ? -1 : 1)).map((entry) => entry.name);
}

/** Moves the cursor, and deletes the segments it has passed once that is durable. */
export async function advanceCursor(dir: string, position: SpoolPosition, tally?: CallTally): Promise<void> {
  await noteAndDelete(dir, position, tally, position.segment);
}

/** Notes the last state of a dead process's directory and deletes its segments, all of which are stored. */
export async function clearSegments(dir: string, position: SpoolPosition, tally: CallTally): Promise<void> {
  await noteAndDelete(dir, position, tally, Number.POSITIVE_INFINITY);
}

/** On a full disk the cursor takes the room of a segment before `segment`, all of which are stored. */
async function noteAndDelete(
  dir: string,
  position: SpoolPosition,
  tally: CallTally | undefined,
  segment: number,
): Promise<void> {
  try {
    await writeCursor(dir, position, tally);
  } catch (error) {
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw error;
    // Nothing is deleted first: others may take what that frees, and then the count of calls would be gone.
    if (!(await writeOverStored(dir, position, tally, segment))) throw error;
  }
  await deleteSegmentsBefore(dir, segment);
}

/** The last one first: as long as earlier ones are there, a crash in between is a crash before it. */
async function writeOverStored(
  dir: string,
  position: SpoolPosition,
  tally: CallTally | undefined,
  before: number,
): Promise<boolean> {
  const stored = readSegmentNumbers(await readdir(dir)).filter((segment) => segment < before);
  for (const segment of stored.reverse()) if (await writeCursorOver(segment, dir, position, tally)) return true;
  return false;
}

async function deleteSegmentsBefore(dir: string, segment: number): Promise<void> {
  for (const number of readSegmentNumbers(await readdir(dir))) {
    if (number < segment) await unlink(join(dir, segmentName(number)));
  }
}

/** Room that a dead writer had put aside; its directory may have to wait long for the database. */
export async function releaseReserve(dir: string): Promise<void> {
  await unlink(join(dir, RESERVE_NAME)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}

/** Removes what is ours of a dead process's directory, and the directory when nothing else is in it. */
export async function removeProcessDirectory(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (isOurs(name)) await unlink(join(dir, name));
  }
  await rmdir(dir).catch((error: unknown) => {
    if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
  });
}

const OWN_FILES: ReadonlySet<string> = new Set([CURSOR_NAME, CURSOR_TEMPORARY_NAME, LOSSES_NAME, RESERVE_NAME]);

function isOurs(name: string): boolean {
  return OWN_FILES.has(name) || readSegmentNumbers([name]).length > 0;
}

function ifMissing(error: unknown): [] {
  if (hasCode(error, 'ENOENT')) return [];
  throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Copies a damaged segment, once. False when it was not kept: the quarantine is full, or the disk. */
export async function quarantineSegment(
  spoolDir: string,
  processName: string,
  segment: number,
  quarantineDir: string,
): Promise<boolean> {
  await mkdir(quarantineDir, { recursive: true, mode: 0o700 });
  const names = await readdir(quarantineDir);
  const name = `${processName}-${segmentName(segment)}`;
  if (names.includes(name)) return true;
  let bytes = 0;
  for (const other of names) bytes += (await stat(join(quarantineDir, other))).size;
  const source = join(spoolDir, processName, segmentName(segment));
  if (bytes + (await stat(source)).size > MAX_QUARANTINE_BYTES) return false;
  const copy = join(quarantineDir, name);
  try {
    await copyFile(source, copy);
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw error;
    await unlink(copy).catch(() => {});
    return false;
  }
}
