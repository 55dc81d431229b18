/**
 * The segment files of one process directory: their names, and opening the next one. Not what is in them.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpoolFiles } from './spool-files.ts';

const SEGMENT_NAME = /^seg-(\d{8,15})\.log$/;
/** Names that are taken are stepped over; only another writer in the same directory could take more than a few. */
const MAX_OPEN_TRIES = 100;

export function segmentName(segment: number): string {
  return `seg-${String(segment).padStart(8, '0')}.log`;
}

/** The segment numbers among file names, ascending; everything else in the directory is ignored. */
export function readSegmentNumbers(names: readonly string[]): number[] {
  const numbers: number[] = [];
  for (const name of names) {
    const digits = SEGMENT_NAME.exec(name)?.[1];
    if (digits !== undefined) numbers.push(Number(digits));
  }
  return numbers.sort((a, b) => a - b);
}

export interface OpenSegment {
  readonly segment: number;
  readonly path: string;
  readonly fd: number;
}

/**
 * Creates the next segment with a number above `after` and above all that exist. Makes the directory when it is
 * missing. Throws what the file system throws.
 */
export function createNextSegment(files: SpoolFiles, dir: string, after: number): OpenSegment {
  files.makeDirectory(dir);
  let segment = Math.max(after, readSegmentNumbers(files.listNames(dir)).at(-1) ?? 0);
  for (let tries = 1; ; tries += 1) {
    segment += 1;
    const path = join(dir, segmentName(segment));
    try {
      return { segment, path, fd: files.createAppending(path) };
    } catch (error) {
      if (tries >= MAX_OPEN_TRIES || !isTaken(error)) throw error;
    }
  }
}

/** Makes new and removed names in a directory durable. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
