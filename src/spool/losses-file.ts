/**
 * The file of a loss ledger: two halves, written in turn, `magic u32 | sequence u32 | length u32 | crc32 u32 | JSON`. The
 * whole half with the higher sequence counts, so a write that was cut loses at most what it was to add. Bytes to losses
 * and back; when they are written is the ledger's.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { LossEntry, LossTable } from './loss-table.ts';

/** In a process directory. */
export const LOSSES_NAME = 'losses.bin';

export const HALF_BYTES = 32 * 1024;
export const LOSSES_BYTES = 2 * HALF_BYTES;
const MAGIC = 0x5447_4c31;
const HEADER_BYTES = 16;
const CRC_AT = 12;

export interface Losses {
  /** Of all entries. */
  readonly calls: number;
  readonly entries: readonly LossEntry[];
}

/** One half. */
export function encodeLosses(sequence: number, table: LossTable): Buffer {
  const payload = table.encode(HALF_BYTES - HEADER_BYTES);
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

export interface ParsedLosses {
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

export function parseLosses(bytes: Buffer): ParsedLosses | null {
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
