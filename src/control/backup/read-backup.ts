/** Reads a backup's frames, checking order, counts and digests. Only the event `end` means that the file is whole. */
import { createHash, type Hash } from 'node:crypto';
import type { z } from 'zod';
import { BackupError, damaged } from './backup-error.ts';
import {
  BackupHeader,
  BackupTrailer,
  countRows,
  FRAME_HEAD_BYTES,
  FRAME_LETTERS,
  type FrameType,
  MAGIC,
  MAX_DATA_BYTES,
  MAX_ROW_BYTES,
  MAX_TEXT_BYTES,
  TableEnd,
  TableHead,
} from './backup-format.ts';
import { type ByteReader, createByteReader } from './byte-reader.ts';

export type BackupEvent =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly type: 'data'; readonly bytes: Buffer; readonly rows: number }
  | { readonly type: 'table_end'; readonly name: string; readonly rows: number; readonly bytes: number }
  | { readonly type: 'end'; readonly rows: number; readonly bytes: number };

interface Frame {
  readonly type: FrameType;
  readonly payload: Buffer;
}

interface OpenTable {
  readonly name: string;
  readonly hash: Hash;
  rows: number;
  bytes: number;
  rowBytes: number;
}

const LINE_FEED = 0x0a;

/** `plain` is the unpacked file. Throws a BackupError at the first fault. */
export async function* readBackup(plain: AsyncIterable<Uint8Array>): AsyncGenerator<BackupEvent> {
  const reader = createByteReader(plain);
  try {
    const magic = await reader.take(MAGIC.length);
    if (magic === null || !magic.equals(MAGIC))
      throw new BackupError('not_a_backup', 'The file is not a backup of Tollgate, or of a form that came later.');
    yield* readFrames(reader);
  } finally {
    await reader.close();
  }
}

async function* readFrames(reader: ByteReader): AsyncGenerator<BackupEvent> {
  const header = parse(BackupHeader, await readFrame(reader, 'header'));
  yield { type: 'header', header };
  let rows = 0;
  let bytes = 0;
  for (const { name, columns } of header.tables) {
    const head = parse(TableHead, await readFrame(reader, 'table'));
    if (head.name !== name) throw damaged(`the table ${head.name} stands where ${name} should`);
    yield { type: 'table', name, columns };
    const table: OpenTable = { name, hash: createHash('sha256'), rows: 0, bytes: 0, rowBytes: 0 };
    let frame = await readFrame(reader, 'data', 'table_end');
    for (; frame.type === 'data'; frame = await readFrame(reader, 'data', 'table_end')) {
      table.hash.update(frame.payload);
      const ended = countRows(frame.payload);
      const tailBytes = frame.payload.length - frame.payload.lastIndexOf(LINE_FEED) - 1;
      table.rowBytes = ended === 0 ? table.rowBytes + frame.payload.length : tailBytes;
      // The database gathers a whole row before it judges it.
      if (table.rowBytes > MAX_ROW_BYTES) throw damaged(`a row of ${name} has no end`);
      table.rows += ended;
      table.bytes += frame.payload.length;
      yield { type: 'data', bytes: frame.payload, rows: ended };
    }
    checkTable(table, parse(TableEnd, frame));
    rows += table.rows;
    bytes += table.bytes;
    yield { type: 'table_end', name, rows: table.rows, bytes: table.bytes };
  }
  const trailer = parse(BackupTrailer, await readFrame(reader, 'trailer'));
  if (trailer.rows !== rows || trailer.bytes !== bytes) throw damaged('its tables are not those that were written');
  if ((await reader.take(1)) !== null) throw damaged('something follows its end');
  yield { type: 'end', rows, bytes };
}

async function readFrame(reader: ByteReader, ...expected: readonly FrameType[]): Promise<Frame> {
  const head = await reader.take(FRAME_HEAD_BYTES);
  if (head === null) throw damaged('it ends too early');
  const letter = head.toString('latin1', 0, 1);
  const type = expected.find((one) => FRAME_LETTERS[one] === letter);
  if (type === undefined) throw damaged(`${expected.join(' or ')} was expected, and something else stands there`);
  const length = head.readUInt32BE(1);
  const limit = type === 'data' ? MAX_DATA_BYTES : MAX_TEXT_BYTES;
  if (length > limit) throw damaged(`a part of it claims ${length} bytes`);
  const payload = await reader.take(length);
  if (payload === null) throw damaged('it ends too early');
  return { type, payload };
}

function parse<T>(schema: z.ZodType<T>, { type, payload }: Frame): T {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch (cause) {
    throw damaged(`its ${type} cannot be read`, cause);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw damaged(`its ${type} is not of the form that it should have`, parsed.error);
  return parsed.data;
}

function checkTable(table: OpenTable, end: TableEnd): void {
  if (table.rows !== end.rows || table.bytes !== end.bytes)
    throw damaged(`${table.name} has ${table.rows} rows, and should have ${end.rows}`);
  if (table.hash.digest('hex') !== end.sha256)
    throw damaged(`the rows of ${table.name} are not those that were written`);
}
