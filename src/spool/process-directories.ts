/**
 * The files around the reading of a spool: which process directories there are, removing what is stored, and putting
 * damaged segments aside for a person to look at. Foreign files are left alone until their directory is removed.
 */
import { copyFile, mkdir, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type SpoolPosition, writeCursor } from './cursor.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

/** Bytes of damaged segments that are kept; beyond it damage is only counted. */
const MAX_QUARANTINE_BYTES = 512 * 1024 * 1024;

/** Names of the process directories, the oldest first. */
export async function listProcessDirectories(spoolDir: string): Promise<readonly string[]> {
  const found: { name: string; bornMs: number }[] = [];
  for (const entry of await readdir(spoolDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const info = await stat(join(spoolDir, entry.name)).catch(() => null);
    if (info !== null) found.push({ name: entry.name, bornMs: info.birthtimeMs });
  }
  return found.sort((a, b) => a.bornMs - b.bornMs || (a.name < b.name ? -1 : 1)).map((entry) => entry.name);
}

/** Moves the cursor, and deletes the segments it has passed once that is durable. */
export async function advanceCursor(dir: string, position: SpoolPosition): Promise<void> {
  await writeCursor(dir, position);
  for (const segment of readSegmentNumbers(await readdir(dir))) {
    if (segment < position.segment) await unlink(join(dir, segmentName(segment)));
  }
}

/** Removes a dead process's directory, whatever is in it. Call it only when all of it is stored. */
export async function removeProcessDirectory(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}

/** Copies a damaged segment, once. False when it was not kept: the quarantine is full. */
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
  await copyFile(source, join(quarantineDir, name));
  return true;
}
