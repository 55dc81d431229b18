/**
 * Every fixture's usage, however its bytes arrive: whole, cut at every byte, one byte at a time, and in every encoding
 * that clients ask for. The reader must say the same each time.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../src/providers/registry.ts';
import { SHAPES } from '../src/shapes/registry.ts';
import { createUsageReader } from '../src/shapes/usage-reader.ts';
import type { UsageReading } from '../src/token-usage.ts';
import { type Fixture, listFixtures } from './fixtures.ts';

const FIXTURES = listFixtures();

const ENCODINGS = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
] as const;

function read(fixture: Fixture, pieces: readonly Buffer[], contentEncoding: string | null = null) {
  const [path = '', query = ''] = fixture.request.path.split('?');
  const provider = PROVIDERS[fixture.provider];
  const header = (name: string) => fixture.request.headers[name];
  const endpoint = provider.endpoint({ method: fixture.request.method, path: provider.mapPath(path), query, header });
  const reader = createUsageReader({
    shape: SHAPES[endpoint.shape],
    status: fixture.status,
    contentType: fixture.headers['content-type'] ?? null,
    contentEncoding,
    header: (name) => fixture.headers[name] ?? null,
    resultId: endpoint.resultId,
  });
  for (const piece of pieces) reader.push(piece);
  return new Promise<UsageReading>((resolve) => reader.finish(true, resolve));
}

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
    expect(comparable(await read(fixture, [fixture.body]))).toEqual(expected);
  });

  it('is the same one byte at a time', async () => {
    expect(comparable(await read(fixture, slice(fixture.body, 1)))).toEqual(expected);
  });

  it('is the same wherever the answer is cut in two', async () => {
    const { body } = fixture;
    for (let cut = 1; cut < body.length; cut += 1) {
      const reading = await read(fixture, [body.subarray(0, cut), body.subarray(cut)]);
      expect(comparable(reading), `cut at byte ${cut}`).toEqual(expected);
    }
  });

  it.each(ENCODINGS)('is the same in %s, whole and in small pieces', async (encoding, compress) => {
    const encoded = Buffer.from(compress(fixture.body));
    expect(comparable(await read(fixture, [encoded], encoding))).toEqual(expected);
    expect(comparable(await read(fixture, slice(encoded, 7), encoding))).toEqual(expected);
  });
});
