/**
 * Every fixture's usage, however its bytes arrive: whole, cut at every byte, one byte at a time, and in every encoding
 * that clients ask for. The reader must say the same each time.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { UsageReading } from '../src/token-usage.ts';
import { listFixtures } from './fixtures.ts';
import { readFixture } from './read-fixture.ts';

const FIXTURES = listFixtures();

const ENCODINGS = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
] as const;

/** The reading in the form of `expected.json`. The native usage object is verbatim and needs no literal. */
function comparable(reading: UsageReading) {
  const { usage, model, serviceTier, speed, inferenceGeo, error, terminal, laterResult, flags } = reading;
  const classes = usage?.classes ?? null;
  const reasoning = usage?.reasoning ?? null;
  const others = usage?.others ?? [];
  return { classes, reasoning, model, serviceTier, speed, inferenceGeo, error, terminal, others, laterResult, flags };
}

function slice(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
}

describe.each(FIXTURES)('the usage of $provider, $name', (fixture) => {
  const expected = fixture.expected.reading;

  it('is read from the whole answer', async () => {
    expect(comparable(await readFixture(fixture, [fixture.body]))).toEqual(expected);
  });

  it('is the same one byte at a time', async () => {
    expect(comparable(await readFixture(fixture, slice(fixture.body, 1)))).toEqual(expected);
  });

  it('is the same wherever the answer is cut in two', async () => {
    const { body } = fixture;
    for (let cut = 1; cut < body.length; cut += 1) {
      const reading = await readFixture(fixture, [body.subarray(0, cut), body.subarray(cut)]);
      expect(comparable(reading), `cut at byte ${cut}`).toEqual(expected);
    }
  });

  it.each(ENCODINGS)('is the same in %s, whole and in small pieces', async (encoding, compress) => {
    const encoded = Buffer.from(compress(fixture.body));
    expect(comparable(await readFixture(fixture, [encoded], encoding))).toEqual(expected);
    expect(comparable(await readFixture(fixture, slice(encoded, 7), encoding))).toEqual(expected);
  });
});
