/** A process directory's position and tally in `cursor.json`. Without one, reading starts over, which is harmless. */
import { open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CallTally } from './call-tally.ts';
import { readSegmentNumbers, segmentName, syncDirectory } from './segment-file.ts';

/** Everything before this position is stored. */
export interface SpoolPosition {
  readonly segment: number;
  readonly offset: number;
}

export const SPOOL_START: SpoolPosition = { segment: 0, offset: 0 };

export const CURSOR_NAME = 'cursor.json';
export const CURSOR_TEMPORARY_NAME = `${CURSOR_NAME}.tmp`;
/** The unit of `blocks` in `stat`. */
const STAT_BLOCK_BYTES = 512;

export interface CursorFile {
  readonly position: SpoolPosition;
  readonly tally: CallTally;
  /** No cursor, and the first segments are gone: the tally is lost unless the call with ordinal 1 follows. */
  readonly isSuspect: boolean;
}

export async function readCursorFile(dir: string): Promise<CursorFile> {
  const segments = readSegmentNumbers(await readdir(dir).catch(() => []));
  const found = await readValue(dir);
  if (found === null) {
    const isSuspect = (segments[0] ?? 1) > 1;
    return { position: SPOOL_START, tally: CallTally.empty(), isSuspect };
  }
  const tally = CallTally.from(found.calls);
  // A passed segment is deleted, so a missing current segment means that a later cursor was lost.
  const { segment, offset } = found.position;
  const isBehind = segments[0] === undefined ? !tally.isInterrupting : segments[0] > segment;
  if (offset > 0 && isBehind) tally.giveUp('tally_lost');
  const position = await fitToFiles(dir, found.position).catch(() => SPOOL_START);
  return { position, tally, isSuspect: false };
}

/** Null when it is missing or unreadable. */
async function readValue(dir: string): Promise<{ readonly position: SpoolPosition; readonly calls: unknown } | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dir, CURSOR_NAME), 'utf8'));
    if (typeof value !== 'object' || value === null || !('segment' in value) || !('offset' in value)) return null;
    const { segment, offset } = value;
    if (!isCount(segment) || !isCount(offset)) return null;
    return { position: { segment, offset }, calls: 'calls' in value ? value.calls : null };
  } catch {
    return null;
  }
}

/** Durable on return; only then may passed segments be deleted. */
export async function writeCursor(dir: string, position: SpoolPosition, tally?: CallTally): Promise<void> {
  const temporary = join(dir, CURSOR_TEMPORARY_NAME);
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(formatCursor(position, tally));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(dir, CURSOR_NAME));
  await syncDirectory(dir);
}

/** Like `writeCursor`, but in a stored segment's blocks, for a full disk. False when it has too few. */
export async function writeCursorOver(
  segment: number,
  dir: string,
  position: SpoolPosition,
  tally?: CallTally,
): Promise<boolean> {
  const path = join(dir, segmentName(segment));
  const bytes = Buffer.from(formatCursor(position, tally));
  if ((await stat(path)).blocks * STAT_BLOCK_BYTES < bytes.length) return false;
  const temporary = join(dir, CURSOR_TEMPORARY_NAME);
  await rename(path, temporary);
  const handle = await open(temporary, 'r+');
  try {
    const { bytesWritten } = await handle.write(bytes, 0, bytes.length, 0);
    if (bytesWritten !== bytes.length) return false;
    await handle.truncate(bytes.length);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(dir, CURSOR_NAME));
  await syncDirectory(dir);
  return true;
}

function formatCursor(position: SpoolPosition, tally: CallTally | undefined): string {
  return JSON.stringify({ ...position, ...(tally === undefined ? {} : { calls: tally.toData() }) });
}

/** A position beyond the files would wait for ever. */
async function fitToFiles(dir: string, { segment, offset }: SpoolPosition): Promise<SpoolPosition> {
  const segments = readSegmentNumbers(await readdir(dir));
  const last = segments.at(-1);
  if (last !== undefined && last < segment) return SPOOL_START;
  if (segments.includes(segment) && (await stat(join(dir, segmentName(segment)))).size < offset)
    return { segment, offset: 0 };
  return { segment, offset };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
