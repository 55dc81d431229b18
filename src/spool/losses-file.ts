/**
 * Counts losses in a file laid out early, so that counting needs no disk room: two halves written in turn, `magic u32 |
 * sequence u32 | length u32 | crc32 u32 | JSON`. The whole half with the higher sequence counts.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { CallBegin, CallEnd } from '../vocabulary/call-record.ts';
import { type LossEntry, type Losses, listLosses, mergeLosses } from './losses.ts';

export const LOSSES_NAME = 'losses.bin';

const HALF_BYTES = 32 * 1024;
export const LOSSES_BYTES = 2 * HALF_BYTES;
const MAX_ENTRIES = 128;
const MAGIC = 0x5447_4c31;
const HEADER_BYTES = 16;
const CRC_AT = 12;
const WRITE_INTERVAL_MS = 250;

export interface LossesFile {
  /** Counts a call; `end` is null when unknown. Never throws; the file follows within 250 ms. */
  count(begin: CallBegin, end: CallEnd | null): void;
  /** Makes the file again where it is missing. */
  keepReady(): void;
  close(): void;
}

/** Makes the file in `dir`; counts in memory while that is impossible. */
export function openLossesFile(dir: string): LossesFile {
  const path = join(dir, LOSSES_NAME);
  let fd: number | null = null;
  /** The file's earlier counts were read. */
  let isRead = false;
  let entries: readonly LossEntry[] = [];
  let sequence = 0;
  let isWritten = true;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function layOut(): void {
    try {
      if (fd !== null && fstatSync(fd).nlink > 0) return;
      leave();
      // After closing, the directory may have been removed on purpose.
      if (!isClosed) mkdirSync(dir, { recursive: true, mode: 0o700 });
      const found = parseLosses(readIfThere(path));
      fd = openFilled(path, found !== null);
      sequence = found?.sequence ?? 0;
      if (isRead) isWritten = false;
      else entries = [...(found?.entries ?? []), ...entries];
      isRead = true;
    } catch {
      // Retried at the next tick; until then the counts are in memory.
    }
  }

  /** A number that is closed may be another file's at once. */
  function leave(): void {
    const left = fd;
    fd = null;
    if (left === null) return;
    try {
      closeSync(left);
    } catch {
      // The number is free all the same, and what was written is counted from the file.
    }
  }

  function write(): void {
    timer = null;
    entries = mergeLosses(entries, MAX_ENTRIES);
    layOut();
    if (fd !== null && !isWritten) {
      try {
        sequence += 1;
        const bytes = encodeLosses(sequence, entries);
        writeSync(fd, bytes, 0, bytes.length, (sequence % 2) * HALF_BYTES);
        isWritten = true;
        // In the background: only a power cut needs it.
        if (!isClosed) fdatasync(fd, () => {});
      } catch {
        if (!isClosed) schedule();
      }
    }
    if (isClosed) leave();
  }

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_INTERVAL_MS).unref();
  }

  layOut();
  return {
    count(begin, end) {
      entries = [...entries, ...listLosses(begin, end)];
      isWritten = false;
      // The first is written at once, later ones together.
      if (timer !== null) return;
      write();
      if (!isClosed) schedule();
    },
    keepReady() {
      layOut();
      if (!isWritten) schedule();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      if (!isWritten) layOut();
      isClosed = true;
      write();
    },
  };
}

/** Keeps the content and fills up with zeros. Removes a file that could not be filled. */
function openFilled(path: string, isReadable: boolean): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    if (isReadable && fstatSync(fd).size === LOSSES_BYTES) return fd;
    const zeros = Buffer.alloc(LOSSES_BYTES);
    if (writeSync(fd, zeros, 0, zeros.length, 0) < zeros.length) throw new Error('the file could not be filled');
    return fd;
  } catch (error) {
    closeSync(fd);
    if (!isReadable) unlinkSync(path);
    throw error;
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function encodeLosses(sequence: number, all: readonly LossEntry[]): Buffer {
  let entries = all;
  let payload = Buffer.from(JSON.stringify(entries));
  while (payload.length > HALF_BYTES - HEADER_BYTES && entries.length > 1) {
    entries = mergeLosses(entries, Math.floor(entries.length * 0.8));
    payload = Buffer.from(JSON.stringify(entries));
  }
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt32BE(sequence, 4);
  bytes.writeUInt32BE(payload.length, 8);
  bytes.set(payload, HEADER_BYTES);
  bytes.writeUInt32BE(checksum(bytes), CRC_AT);
  return bytes;
}

/** Covers all but the magic and itself. */
function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(4, CRC_AT)));
}

interface ParsedHalf {
  readonly sequence: number;
  readonly entries: readonly LossEntry[];
}

function parseHalf(bytes: Buffer): ParsedHalf | null {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== MAGIC) return null;
  const end = HEADER_BYTES + bytes.readUInt32BE(8);
  if (end > bytes.length || checksum(bytes.subarray(0, end)) !== bytes.readUInt32BE(CRC_AT)) return null;
  return { sequence: bytes.readUInt32BE(4), entries: JSON.parse(bytes.toString('utf8', HEADER_BYTES, end)) };
}

function parseLosses(bytes: Buffer): ParsedHalf | null {
  const first = parseHalf(bytes.subarray(0, HALF_BYTES));
  const second = parseHalf(bytes.subarray(HALF_BYTES, LOSSES_BYTES));
  if (first === null || second === null) return first ?? second;
  return first.sequence > second.sequence ? first : second;
}

/** Losses of the process directory `dir`; empty without a readable file. */
export async function readLosses(dir: string): Promise<Losses> {
  const bytes = await readFile(join(dir, LOSSES_NAME)).catch(() => Buffer.alloc(0));
  const entries = parseLosses(bytes)?.entries ?? [];
  return { calls: entries.reduce((sum, entry) => sum + entry.calls, 0), entries };
}
