/** Lists process directories, removes stored segments, and puts damaged ones aside. Keeps foreign files. */
import { copyFile, mkdir, readdir, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallTally } from './call-tally.ts';
import { CURSOR_NAME, CURSOR_TEMPORARY_NAME, type SpoolPosition, writeCursor, writeCursorOver } from './cursor.ts';
import { EMERGENCY_NAME } from './emergency-segment.ts';
import { hasCode, nullIfMissing } from './file-errors.ts';
import { LOSSES_NAME } from './losses-file.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

/** Most bytes in quarantine; more damage is only counted. */
const MAX_QUARANTINE_BYTES = 512 * 1024 * 1024;

/** Process directories in order of creation; a directory without our files is none. */
export async function listProcessDirectories(spoolDir: string): Promise<readonly string[]> {
  const found: { name: string; bornMs: number }[] = [];
  for (const entry of (await readdir(spoolDir, { withFileTypes: true }).catch(nullIfMissing)) ?? []) {
    if (!entry.isDirectory()) continue;
    const dir = join(spoolDir, entry.name);
    const names = await readdir(dir).catch(() => []);
    if (!names.some(isOurs)) continue;
    const info = await stat(dir).catch(() => null);
    if (info !== null) found.push({ name: entry.name, bornMs: info.birthtimeMs });
  }
  return found.sort((a, b) => a.bornMs - b.bornMs || (a.name < b.name ? -1 : 1)).map((entry) => entry.name);
}

/** Moves the cursor durably, then deletes the segments it has passed. */
export async function advanceCursor(dir: string, position: SpoolPosition, tally?: CallTally): Promise<void> {
  await noteAndDelete(dir, position, tally, position.segment);
}

/** Notes a dead process's last state and deletes all its stored segments. */
export async function clearSegments(dir: string, position: SpoolPosition, tally: CallTally): Promise<void> {
  await noteAndDelete(dir, position, tally, Number.POSITIVE_INFINITY);
}

/** On a full disk the cursor reuses a stored segment before `segment`. */
async function noteAndDelete(
  dir: string,
  position: SpoolPosition,
  tally: CallTally | undefined,
  segment: number,
): Promise<void> {
  try {
    await writeCursor(dir, position, tally);
  } catch (error) {
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    // Deleting first could lose the freed room to others, and the tally with it.
    if (!(await writeOverStored(dir, position, tally, segment))) throw error;
  }
  for (const number of readSegmentNumbers(await readdir(dir))) {
    if (number < segment) await unlink(join(dir, segmentName(number)));
  }
}

/** The last one first, so that a crash leaves the earlier ones. */
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

/** Frees a dead writer's reserve, since its directory may wait long for the database. */
export async function releaseEmergencySegment(dir: string): Promise<void> {
  await unlink(join(dir, EMERGENCY_NAME)).catch(nullIfMissing);
}

/** Removes our files, and the directory if nothing else is in it. */
export async function removeProcessDirectory(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (isOurs(name)) await unlink(join(dir, name));
  }
  await rmdir(dir).catch((error: unknown) => {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  });
}

const OWN_FILES: ReadonlySet<string> = new Set([CURSOR_NAME, CURSOR_TEMPORARY_NAME, LOSSES_NAME, EMERGENCY_NAME]);

function isOurs(name: string): boolean {
  return OWN_FILES.has(name) || readSegmentNumbers([name]).length > 0;
}

/** Copies a damaged segment once. False when the quarantine or the disk is full. */
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
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
    await unlink(copy).catch(() => {});
    return false;
  }
}
