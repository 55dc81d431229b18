/** Names and creates the segment files of a process directory. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './file-errors.ts';
import type { SpoolFiles } from './spool-files.ts';

const SEGMENT_NAME = /^seg-(\d{8,15})\.log$/;
/** Taken names are skipped; another writer would take few. */
const MAX_OPEN_TRIES = 100;

export function segmentName(segment: number): string {
  return `seg-${String(segment).padStart(8, '0')}.log`;
}

/** Ascending; other names are ignored. */
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

/** Creates a segment above `after` and all existing ones, and the directory if missing. Throws file system errors. */
export function createNextSegment(files: SpoolFiles, dir: string, after: number): OpenSegment {
  files.makeDirectory(dir);
  let segment = Math.max(after, readSegmentNumbers(files.listNames(dir)).at(-1) ?? 0);
  for (let tries = 1; ; tries += 1) {
    segment += 1;
    const path = join(dir, segmentName(segment));
    try {
      return { segment, path, fd: files.createAppending(path) };
    } catch (error) {
      if (tries >= MAX_OPEN_TRIES || !hasCode(error, 'EEXIST')) throw error;
    }
  }
}

/** Makes new and removed names durable. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
