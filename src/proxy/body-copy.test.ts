import { expect, test } from 'vitest';
import { BodyCopy } from './body-copy.ts';
import { createByteBudget } from './byte-budget.ts';

const MIB = 1024 * 1024;

/** Bytes that differ from their neighbours, so that a shift shows. */
function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  return bytes;
}

function copyOf(bytes: Buffer, chunkBytes: number) {
  const copy = new BodyCopy(createByteBudget(64 * MIB));
  for (let at = 0; at < bytes.length; at += chunkBytes) copy.push(bytes.subarray(at, at + chunkBytes));
  return { total: copy.totalBytes, ...copy.read() };
}

test.each([1, 270, 65_536, 3 * MIB])('a body of exactly the limit is kept whole, in chunks of %d', (chunkBytes) => {
  const bytes = pattern(chunkBytes === 1 ? 70_000 : MIB);
  const copied = copyOf(bytes, chunkBytes);
  expect(copied.bytes.equals(bytes)).toBe(true);
  expect(copied.headBytes).toBe(bytes.length);
});

test.each([270, 65_536, 5 * MIB])(
  'of a larger body the first and the last 512 KiB are kept, in chunks of %d',
  (chunkBytes) => {
    const bytes = pattern(2 * MIB + 77);
    const copied = copyOf(bytes, chunkBytes);
    expect(copied.total).toBe(2 * MIB + 77);
    expect(copied.headBytes).toBe(MIB / 2);
    expect(
      copied.bytes.equals(Buffer.concat([bytes.subarray(0, MIB / 2), bytes.subarray(bytes.length - MIB / 2)])),
    ).toBe(true);
  },
);

test('a copy that finds no memory left is dropped, gives back what it had, and still counts the bytes', () => {
  const budget = createByteBudget(100 * 1024);
  const copy = new BodyCopy(budget);
  copy.push(pattern(90 * 1024));
  copy.push(pattern(90 * 1024));
  expect(copy.isDropped).toBe(true);
  expect(copy.totalBytes).toBe(180 * 1024);
  expect(copy.read().bytes.length).toBe(0);
  expect(budget.take(100 * 1024)).toBe(true);
});
