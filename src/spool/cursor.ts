/**
 * How far a process directory has been read and stored, kept in its `cursor.json`. A missing or unreadable cursor means
 * "from the start", which is harmless: storing a record twice makes one row.
 */
import { open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSegmentNumbers, segmentName, syncDirectory } from './segment-file.ts';

/** Everything before byte `offset` of segment number `segment` is stored. */
export interface SpoolPosition {
  readonly segment: number;
  readonly offset: number;
}

export const SPOOL_START: SpoolPosition = { segment: 0, offset: 0 };

export const CURSOR_NAME = 'cursor.json';
export const CURSOR_TEMPORARY_NAME = `${CURSOR_NAME}.tmp`;

export async function readCursor(dir: string): Promise<SpoolPosition> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dir, CURSOR_NAME), 'utf8'));
    if (typeof value !== 'object' || value === null || !('segment' in value) || !('offset' in value))
      return SPOOL_START;
    const { segment, offset } = value;
    return isCount(segment) && isCount(offset) ? await fitToFiles(dir, { segment, offset }) : SPOOL_START;
  } catch {
    // By the rule above this is an answer, not a failure.
    return SPOOL_START;
  }
}

/** Durable when it returns: a segment that the cursor has passed may be deleted then, and only then. */
export async function writeCursor(dir: string, position: SpoolPosition): Promise<void> {
  const temporary = join(dir, CURSOR_TEMPORARY_NAME);
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(JSON.stringify(position));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(dir, CURSOR_NAME));
  await syncDirectory(dir);
}

/** A position that the files do not reach was never written by us; reading on from it would wait for ever. */
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
