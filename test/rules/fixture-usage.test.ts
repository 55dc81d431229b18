/**
 * Every fixture's usage, however its bytes arrive: whole, cut in two, one byte at a time, and in every encoding
 * that clients ask for. The reader must say the same each time. The quick tests cut at event borders and in some other
 * places; `npm run test:long` cuts everywhere.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import { listFixtures } from '../support/fixtures.ts';
import { readFixture } from '../support/read-fixture.ts';

const FIXTURES = listFixtures();

const ENCODINGS = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
] as const;

/** The reading in the form of `expected.json`. The native usage object is verbatim and needs no literal. */
function comparable(reported: ReportedUsage) {
  const { usage, model, serviceTier, speed, inferenceGeo, error, terminal, laterResult, flags } = reported;
  const classes = usage?.classes ?? null;
  const reasoning = usage?.reasoning ?? null;
  const others = usage?.others ?? [];
  return { classes, reasoning, model, serviceTier, speed, inferenceGeo, error, terminal, others, laterResult, flags };
}

function slice(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
}

const CUTS_EVERYWHERE = process.env['TEST_CUTS'] === 'everywhere';
/** How far around the border of an event an answer is cut. */
const AROUND = 2;
const OTHER_PLACES = 24;

/** Where one event of a stream ends and the next begins, in any of the forms that streams have. */
function listBorders(body: Buffer): number[] {
  const text = [...body.toString('latin1').matchAll(/\r?\n\r?\n|\}\r?\n|\},/g)].map((end) => end.index + end[0].length);
  const frames: number[] = [];
  // A frame of AWS begins with its length; anything else is no frame soon enough.
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at);
    if (length < 16 || at + length > body.length) break;
    at += length;
    frames.push(at);
  }
  return [...text, ...frames];
}

/** Every byte, or the borders of events and places that are the same at each run. */
function listCuts(body: Buffer): readonly number[] {
  if (CUTS_EVERYWHERE) return Array.from({ length: body.length - 1 }, (_, at) => at + 1);
  const near = listBorders(body).flatMap((at) => [-AROUND, -1, 0, 1, AROUND].map((step) => at + step));
  const others = Array.from({ length: OTHER_PLACES }, (_, n) => ((n + 1) * 7919) % body.length);
  return [...new Set([...near, ...others])].filter((at) => at > 0 && at < body.length);
}

describe.each(FIXTURES)('the usage of $provider, $name', (fixture) => {
  const expected = fixture.expected.reported;

  it('is read from the whole answer', async () => {
    expect(comparable(await readFixture(fixture, [fixture.body]))).toEqual(expected);
  });

  it('is the same one byte at a time', async () => {
    expect(comparable(await readFixture(fixture, slice(fixture.body, 1)))).toEqual(expected);
  });

  it(`is the same when the answer is cut in two, ${CUTS_EVERYWHERE ? 'everywhere' : 'in places'}`, async () => {
    const { body } = fixture;
    for (const cut of listCuts(body)) {
      const reported = await readFixture(fixture, [body.subarray(0, cut), body.subarray(cut)]);
      expect(comparable(reported), `cut at byte ${cut}`).toEqual(expected);
    }
  });

  it.each(ENCODINGS)('is the same in %s, whole and in small pieces', async (encoding, compress) => {
    const encoded = Buffer.from(compress(fixture.body));
    expect(comparable(await readFixture(fixture, [encoded], encoding))).toEqual(expected);
    expect(comparable(await readFixture(fixture, slice(encoded, 7), encoding))).toEqual(expected);
  });
});
