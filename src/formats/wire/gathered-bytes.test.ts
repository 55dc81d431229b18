import { expect, test } from 'vitest';
import { createGatheredBytes } from './gathered-bytes.ts';

test('pieces of any size come out as one buffer in order, once', () => {
  const gathered = createGatheredBytes();
  const pieces = [1, 3, 5000, 1, 1023, 1024, 4096, 70_000, 2].map((size, index) => Buffer.alloc(size, index + 1));
  for (const piece of pieces) gathered.push(piece);
  expect(gathered.length).toBe(81_150);
  expect(gathered.take(Buffer.from('end'))?.equals(Buffer.concat([...pieces, Buffer.from('end')]))).toBe(true);
  expect(gathered.length).toBe(0);
  expect(gathered.take(null)).toBe(null);
});

test('a million single bytes do not become a million buffers', () => {
  const gathered = createGatheredBytes();
  const one = Buffer.from('x');
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 1_000_000; index += 1) gathered.push(one);
  // A buffer object is about a hundred bytes of heap; the million would be 100 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
  expect(gathered.take(null)?.length).toBe(1_000_000);
});

test('a small piece is copied, so that what it was cut from can change', () => {
  const gathered = createGatheredBytes();
  const network = Buffer.from('abcdef');
  gathered.push(network.subarray(0, 3));
  network.fill('z');
  expect(gathered.take(null)?.toString()).toBe('abc');
});
