/**
 * Looks at the spool of a node that is gone, wherever it lies now, before anybody takes it: which files there are, and
 * whether each of them is whole. A copy that is still under way shows in its files, or in what changes. Reads only.
 */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { walkFrames } from './count-waiting.ts';
import { CURSOR_NAME, readCursorFile } from './cursor.ts';
import { LOSSES_NAME } from './losses-file.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

const CHUNK_BYTES = 1024 * 1024;

export interface SpoolFile {
  readonly name: string;
  readonly bytes: number;
  /** Of its content or its place, by the clock of the file system. */
  readonly changedMs: number;
}

/** One process directory. */
export interface FoundProcess {
  readonly name: string;
  readonly dir: string;
  readonly files: readonly SpoolFile[];
}

/** `dir` is a data directory, its spool folder, or one process directory. Empty when it is none of them. */
export async function findProcesses(dir: string): Promise<readonly FoundProcess[]> {
  const path = resolve(dir);
  const own = await readProcess(path);
  if (own !== null) return [own];
  const inFolder = await readFolder(path);
  return inFolder.length > 0 ? inFolder : readFolder(join(path, 'spool'));
}

async function readFolder(path: string): Promise<readonly FoundProcess[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(ifMissing);
  const found: FoundProcess[] = [];
  for (const entry of entries) {
    const process = entry.isDirectory() ? await readProcess(join(path, entry.name)) : null;
    if (process !== null) found.push(process);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null when it is no process directory. Room that was put aside in it holds no records. */
export async function readProcess(dir: string): Promise<FoundProcess | null> {
  const names = await readdir(dir).catch(ifMissing);
  const segments = readSegmentNumbers(names).map(segmentName);
  const ours = [...segments, ...names.filter((name) => name === CURSOR_NAME || name === LOSSES_NAME).sort()];
  if (segments.length === 0 && !ours.includes(CURSOR_NAME)) return null;
  const files: SpoolFile[] = [];
  for (const name of ours) {
    const { size, mtimeMs, ctimeMs } = await stat(join(dir, name));
    files.push({ name, bytes: size, changedMs: Math.max(mtimeMs, ctimeMs) });
  }
  return { name: basename(dir), dir, files };
}

/** What is not whole, in words; and how many endings there are behind the cursor. */
export interface Inspection {
  readonly problems: readonly string[];
  readonly endings: number;
}

export async function inspectProcess({ dir, name, files }: FoundProcess): Promise<Inspection> {
  const problems: string[] = [];
  const segments = readSegmentNumbers(files.map((file) => file.name));
  const { position } = await readCursorFile(dir);
  const hasCursor = files.some((file) => file.name === CURSOR_NAME);
  const [first = 1] = segments;
  if (!hasCursor && first > 1)
    problems.push(`${name}: its beginning is missing: there is no ${CURSOR_NAME}, and no ${segmentName(1)}`);
  let endings = 0;
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    if (next !== undefined && next !== segment + 1) problems.push(`${name}: ${segmentName(segment + 1)} is missing`);
    const from = segment === position.segment ? position.offset : 0;
    const walked = await walkSegment(join(dir, segmentName(segment)), from);
    if (segment >= position.segment) endings += walked.endings;
    if (!walked.isWhole) problems.push(`${name}: ${segmentName(segment)} ends in the middle of a record`);
  }
  return { problems, endings };
}

/** From a place where a record begins. What was laid out and never written holds zeros to its end. */
async function walkSegment(
  path: string,
  from: number,
): Promise<{ readonly endings: number; readonly isWhole: boolean }> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    if (from > size) return { endings: 0, isWhole: false };
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let at = from;
    let endings = 0;
    while (at < size) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at);
      const walk = walkFrames(chunk.subarray(0, bytesRead), size - at);
      if (walk.bytes === 0) return { endings, isWhole: await isZeros(handle, at, chunk) };
      at += walk.bytes;
      endings += walk.endings;
    }
    return { endings, isWhole: true };
  } finally {
    await handle.close();
  }
}

async function isZeros(handle: FileHandle, from: number, chunk: Buffer): Promise<boolean> {
  for (let at = from; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return true;
    if (chunk.subarray(0, bytesRead).some((byte) => byte !== 0)) return false;
    at += bytesRead;
  }
}

function ifMissing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
  throw error;
}
