/** Rows in COPY's binary format, which escapes nothing: https://www.postgresql.org/docs/18/sql-copy.html. */

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const NO_FLAGS_NO_EXTENSION = Buffer.alloc(8);
const TRAILER = Buffer.from([0xff, 0xff]);
const NULL_LENGTH = -1;
/** PostgreSQL's clock begins in 2000, in microseconds. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

export type BinaryField = Buffer | null;

export function encodeCopyBinary(rows: readonly (readonly BinaryField[])[]): Buffer {
  const parts: Buffer[] = [SIGNATURE, NO_FLAGS_NO_EXTENSION];
  for (const row of rows) {
    const count = Buffer.allocUnsafe(2);
    count.writeInt16BE(row.length);
    parts.push(count);
    for (const field of row) {
      const length = Buffer.allocUnsafe(4);
      length.writeInt32BE(field === null ? NULL_LENGTH : field.length);
      parts.push(length);
      if (field !== null) parts.push(field);
    }
  }
  parts.push(TRAILER);
  return Buffer.concat(parts);
}

export function binaryUuid(id: string): Buffer {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new RangeError('not a UUID');
  return bytes;
}

export function binaryTime(timeMs: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt(timeMs - POSTGRES_EPOCH_MS) * 1000n);
  return bytes;
}

export function binaryInt8(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

export function binaryInt4(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** `jsonb` is text behind a version byte. */
export function binaryJson(json: string): Buffer {
  return Buffer.concat([Buffer.from([1]), Buffer.from(json)]);
}
