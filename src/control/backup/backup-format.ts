/** The form of a backup, a zstd stream of frames: docs/decisions/0023-backup-format.md. */
import { z } from 'zod';

export const MAGIC = Buffer.from('tollgate backup 1\n', 'latin1');

/** `header`; for each table `table`, any number of `data`, `table_end`; last `trailer`. */
export const FRAME_LETTERS = { header: 'H', table: 'T', data: 'D', table_end: 'E', trailer: 'Z' } as const;
export type FrameType = keyof typeof FRAME_LETTERS;

export const FRAME_HEAD_BYTES = 5;
/** A longer row goes on in the next frame. */
export const MAX_DATA_BYTES = 256 * 1024;
/** Many times our longest row: a body of a megabyte, or an imported catalog. */
export const MAX_ROW_BYTES = 128 * 1024 * 1024;
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Ten years of partitions. */
const MAX_DAYS = 4_000;
const MAX_TABLES = 200;
const MAX_COLUMNS = 1_600;

/** It becomes part of SQL statements, so it is a plain name only. */
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Count = z.number().int().nonnegative();

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

export const BackupHeader = z.object({
  created_at: z.iso.datetime(),
  tollgate_version: z.string().max(100),
  postgres_version: z.string().max(100),
  migrations: z
    .array(z.object({ name: z.string().max(200), checksum: Sha256 }))
    .min(1)
    .max(1_000),
  /** Days (UTC) that need a partition each. */
  days: z.array(z.iso.date()).max(MAX_DAYS),
  tables: z
    .array(z.object({ name: Name, columns: z.array(Name).min(1).max(MAX_COLUMNS).refine(areDistinct) }))
    .min(1)
    .max(MAX_TABLES),
  /** Whether the spool was stored before, else the bytes left in it. */
  spool: z.object({ is_stored: z.boolean(), left_bytes: Count.nullable() }),
});
export type BackupHeader = z.infer<typeof BackupHeader>;

export const TableHead = z.object({ name: Name });

export const TableEnd = z.object({
  rows: Count,
  /** The digest is over the table's unpacked text. */
  bytes: Count,
  sha256: Sha256,
});
export type TableEnd = z.infer<typeof TableEnd>;

export const BackupTrailer = z.object({
  rows: Count,
  bytes: Count,
});

export function encodeFrame(type: FrameType, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.write(FRAME_LETTERS[type], 0, 'latin1');
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** Each line feed ends a row: COPY writes those in values as `\n`. */
export function countRows(bytes: Uint8Array): number {
  let rows = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) rows += 1;
  return rows;
}
