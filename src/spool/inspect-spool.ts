/** Inspects a lost node's spool before it is taken: its files, and whether each is whole. Reads only. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { walkSegment } from './count-waiting.ts';
import { CURSOR_NAME, readCursorFile } from './cursor.ts';
import { hasCode } from './file-errors.ts';
import { LOSSES_NAME } from './losses-file.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

const CHUNK_BYTES = 1024 * 1024;
const NO_LIMITS = { maxBytes: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };

export interface SpoolFile {
  readonly name: string;
  readonly bytes: number;
  /** Last change of content or name, by the file system's clock. */
  readonly changedMs: number;
}

export interface FoundProcess {
  readonly name: string;
  readonly dir: string;
  readonly files: readonly SpoolFile[];
}

/** `dir` is a data directory, its spool, or a process directory. Empty for anything else. */
export async function findProcesses(dir: string): Promise<readonly FoundProcess[]> {
  const path = resolve(dir);
  const own = await readProcess(path);
  if (own !== null) return [own];
  const inFolder = await readFolder(path);
  return inFolder.length > 0 ? inFolder : readFolder(join(path, 'spool'));
}

async function readFolder(path: string): Promise<readonly FoundProcess[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(noneIfMissing);
  const found: FoundProcess[] = [];
  for (const entry of entries) {
    const process = entry.isDirectory() ? await readProcess(join(path, entry.name)) : null;
    if (process !== null) found.push(process);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null when it is no process directory. Reserved files are left out. */
export async function readProcess(dir: string): Promise<FoundProcess | null> {
  const names = await readdir(dir).catch(noneIfMissing);
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
    const walked = await inspectSegment(join(dir, segmentName(segment)), from);
    if (segment >= position.segment) endings += walked.endings;
    if (!walked.isWhole) problems.push(`${name}: ${segmentName(segment)} ends in the middle of a record`);
  }
  return { problems, endings };
}

/** `from` is the start of a record. Unwritten room holds zeros to its end. */
async function inspectSegment(
  path: string,
  from: number,
): Promise<{ readonly endings: number; readonly isWhole: boolean }> {
  const { size } = await stat(path);
  if (from > size) return { endings: 0, isWhole: false };
  const { walked } = await walkSegment(path, { from, to: from, endings: 0 }, NO_LIMITS);
  return { endings: walked.endings, isWhole: walked.to >= size || (await isZeros(path, walked.to)) };
}

async function isZeros(path: string, from: number): Promise<boolean> {
  for await (const chunk of createReadStream(path, { start: from, highWaterMark: CHUNK_BYTES }))
    if (Buffer.from(chunk).some((byte) => byte !== 0)) return false;
  return true;
}

function noneIfMissing(error: unknown): [] {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
  throw error;
}
