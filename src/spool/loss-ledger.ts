/**
 * What the calls were whose ending could not be kept: counted durably, by minute, key and model, in a file that is laid
 * out in full before anything is lost, so that counting needs no room. Not the records themselves: those are gone.
 *
 * The file has two halves, written in turn: `magic u32 | sequence u32 | length u32 | crc32 u32 | JSON`. The whole half
 * with the higher sequence counts, so a write that was cut loses at most what it was to add.
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
import type { CallBegin, CallEnd, ProviderName } from '../call-record.ts';
import type { ClassQuantities } from '../token-usage.ts';
import { LossTable } from './loss-table.ts';

/** Calls of one minute, key and model. What did not fit any more is in one entry whose other members are all null. */
export interface LossEntry {
  /** Start of the minute in which the calls began; of the first of them, in an entry that stands for several. */
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: ProviderName | null;
  /** Served, else requested, else null. */
  readonly model: string | null;
  /** 0 where the entry is the second model of calls that are counted with their first. */
  readonly calls: number;
  /** Summed over the calls that reported any. */
  readonly usage: ClassQuantities;
  /** The highest of these calls: how many there were at least, when no record of theirs is left. */
  readonly lastOrdinal?: number;
}

export interface Losses {
  /** Of all entries. */
  readonly calls: number;
  readonly entries: readonly LossEntry[];
}

export interface LossLedger {
  /** Counts a call. `end` is null when nothing is known of its ending. Never throws; the file follows within 250 ms. */
  count(begin: CallBegin, end: CallEnd | null): void;
  /** Makes the file when that was impossible before, or when it was removed. */
  keepReady(): void;
  close(): void;
}

/** In a process directory. */
export const LOSSES_NAME = 'losses.bin';

const HALF_BYTES = 32 * 1024;
export const LOSSES_BYTES = 2 * HALF_BYTES;
const MAGIC = 0x5447_4c31;
const HEADER_BYTES = 16;
const CRC_AT = 12;
const WRITE_INTERVAL_MS = 250;

/** Makes the file in the process directory `dir`, or counts in memory only as long as that is impossible. */
export function openLossLedger(dir: string): LossLedger {
  const path = join(dir, LOSSES_NAME);
  let fd: number | null = null;
  let table: LossTable | null = null;
  let sequence = 0;
  let isWritten = true;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function layOut(): void {
    if (fd !== null && !wasRemoved(fd)) return;
    try {
      if (fd !== null) closeSync(fd);
      fd = null;
      // After closing the directory may have been removed on purpose.
      if (!isClosed) mkdirSync(dir, { recursive: true, mode: 0o700 });
      const before = parseLosses(readIfThere(path));
      const opened = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      fd = fill(path, opened, before);
      sequence = before?.sequence ?? 0;
      if (table === null) table = new LossTable(before?.losses.entries ?? []);
      else isWritten = false;
    } catch {
      // Tried again at the next tick; until then the counts are in memory, where the metrics find them.
    }
  }

  function write(): void {
    timer = null;
    layOut();
    if (fd === null || table === null || isWritten) return;
    try {
      sequence += 1;
      const bytes = encode(sequence, table, HALF_BYTES);
      writeSync(fd, bytes, 0, bytes.length, (sequence % 2) * HALF_BYTES);
      isWritten = true;
      // Beside the work: the count is in the operating system, this is for the loss of power.
      if (!isClosed) fdatasync(fd, () => {});
    } catch {
      if (!isClosed) schedule();
    }
    if (isClosed) closeFile();
  }

  function closeFile(): void {
    if (fd !== null) closeSync(fd);
    fd = null;
  }

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_INTERVAL_MS).unref();
  }

  layOut();
  return {
    count(begin, end) {
      table ??= new LossTable([]);
      table.add(begin, end);
      isWritten = false;
      // The first at once, those that follow it together.
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
      closeFile();
    },
  };
}

/** Zeros up to the whole length; what is there stays. Nothing is left of a file that could not be filled. */
function fill(path: string, fd: number, before: ParsedLosses | null): number {
  try {
    if (before === null || fstatSync(fd).size < LOSSES_BYTES) {
      const zeros = Buffer.alloc(LOSSES_BYTES);
      if (writeSync(fd, zeros, 0, zeros.length, 0) < zeros.length) throw new Error('the file could not be filled');
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    if (before === null) unlinkSync(path);
    throw error;
  }
}

function wasRemoved(fd: number): boolean {
  return fstatSync(fd).nlink === 0;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function encode(sequence: number, table: LossTable, maxBytes: number): Buffer {
  const payload = table.encode(maxBytes - HEADER_BYTES);
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt32BE(sequence, 4);
  bytes.writeUInt32BE(payload.length, 8);
  bytes.set(payload, HEADER_BYTES);
  bytes.writeUInt32BE(checksum(bytes), CRC_AT);
  return bytes;
}

/** Of all but the magic and itself. */
function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(4, CRC_AT)));
}

interface ParsedLosses {
  readonly sequence: number;
  readonly losses: Losses;
}

function parseHalf(bytes: Buffer): ParsedLosses | null {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32BE(0) !== MAGIC) return null;
  const end = HEADER_BYTES + bytes.readUInt32BE(8);
  if (end > bytes.length || checksum(bytes.subarray(0, end)) !== bytes.readUInt32BE(CRC_AT)) return null;
  const entries: readonly LossEntry[] = JSON.parse(bytes.toString('utf8', HEADER_BYTES, end));
  const calls = entries.reduce((sum, entry) => sum + entry.calls, 0);
  return { sequence: bytes.readUInt32BE(4), losses: { calls, entries } };
}

function parseLosses(bytes: Buffer): ParsedLosses | null {
  const first = parseHalf(bytes.subarray(0, HALF_BYTES));
  const second = parseHalf(bytes.subarray(HALF_BYTES, LOSSES_BYTES));
  if (first === null || second === null) return first ?? second;
  return first.sequence > second.sequence ? first : second;
}

/** What was lost by the writer of the process directory `dir`; nothing, when it has no readable ledger. */
export async function readLosses(dir: string): Promise<Losses> {
  const bytes = await readFile(join(dir, LOSSES_NAME)).catch(() => Buffer.alloc(0));
  return parseLosses(bytes)?.losses ?? { calls: 0, entries: [] };
}
