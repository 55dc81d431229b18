import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  createContentDecoder,
  type DecodeEnd,
  isIdentity,
  MAX_DECODED_BYTES,
  MAX_PENDING_BYTES,
} from './content-encoding.ts';

function decode(encoding: string, pieces: readonly Buffer[]): Promise<{ text: string; end: DecodeEnd }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const decoder = createContentDecoder(
      encoding,
      (chunk) => chunks.push(chunk),
      (end) => resolve({ text: Buffer.concat(chunks).toString(), end }),
    );
    if (decoder === null) {
      reject(new Error('no decoder'));
      return;
    }
    for (const piece of pieces) decoder.push(piece);
    decoder.end();
  });
}

/** Without keeping what comes out. */
function countDecoded(encoding: string, pieces: readonly Buffer[]): Promise<{ bytes: number; end: DecodeEnd }> {
  return new Promise((resolve) => {
    let bytes = 0;
    const decoder = createContentDecoder(
      encoding,
      (chunk) => {
        bytes += chunk.length;
      },
      (end) => resolve({ bytes, end }),
    );
    for (const piece of pieces) decoder?.push(piece);
    decoder?.end();
  });
}

const TEXT = `data: {"a":"${'你好 '.repeat(40)}"}\n\ndata: [DONE]\n\n`;
const SOURCE = Buffer.from(TEXT);
const ENCODED = [
  ['gzip', gzipSync(SOURCE)],
  ['x-gzip', gzipSync(SOURCE)],
  ['GZIP', gzipSync(SOURCE)],
  ['deflate', deflateSync(SOURCE)],
  ['deflate', deflateRawSync(SOURCE)],
  ['br', brotliCompressSync(SOURCE)],
  ['zstd', zstdCompressSync(SOURCE)],
  ['gzip, br', brotliCompressSync(gzipSync(SOURCE))],
  ['identity, deflate, gzip, zstd, br', brotliCompressSync(zstdCompressSync(gzipSync(deflateSync(SOURCE))))],
] as const;

describe('an encoded body is decoded', () => {
  test.each(ENCODED)('%s, whole and byte by byte', async (encoding, encoded) => {
    expect(await decode(encoding, [encoded])).toEqual({ text: TEXT, end: 'decoded' });
    const bytes = Array.from(encoded, (byte) => Buffer.from([byte]));
    expect(await decode(encoding, bytes)).toEqual({ text: TEXT, end: 'decoded' });
  });

  test.each(ENCODED)('%s, cut anywhere, into what was there', async (encoding, encoded) => {
    for (const at of [0, 1, 2, encoded.length >> 1, encoded.length - 1]) {
      const { text, end } = await decode(encoding, [encoded.subarray(0, at)]);
      expect(end).toBe('decoded');
      expect(TEXT.startsWith(text.replaceAll('\uFFFD', ''))).toBe(true);
    }
  });
});

describe('an encoded body that is cut', () => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `data: {"n":${index},"text":"${Math.sin(index)}"}\n\n`);
  const source = Buffer.from(lines.join(''));

  test.each([
    ['gzip', gzipSync(source)],
    ['deflate', deflateSync(source)],
    ['deflate', deflateRawSync(source)],
    ['br', brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } })],
    ['zstd', zstdCompressSync(source)],
    ['gzip, zstd', zstdCompressSync(gzipSync(source))],
  ])('gives what stood before the cut: %s', async (encoding, encoded) => {
    const { text, end } = await decode(encoding, [encoded.subarray(0, (encoded.length * 9) / 10)]);
    expect(end).toBe('decoded');
    expect(source.toString().startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(source.length / 4);
  });

  test('is told from one that is broken in its middle, whose beginning is given all the same', async () => {
    const broken = Buffer.from(gzipSync(source));
    broken.fill(0xff, 20_000, 20_064);
    const { text, end } = await decode('gzip', [broken]);
    expect(end).toBe('undecodable');
    expect(source.toString().startsWith(text.slice(0, 1_000))).toBe(true);
    expect(text.length).toBeGreaterThan(1_000);
  });
});

describe('an encoded body of several parts is one body', () => {
  test.each([
    ['gzip', Buffer.concat([gzipSync('data: a\n\n'), gzipSync('data: b\n\n')])],
    ['zstd', Buffer.concat([zstdCompressSync('data: a\n\n'), zstdCompressSync('data: b\n\n')])],
  ])('%s', async (encoding, encoded) => {
    expect(await decode(encoding, [encoded])).toEqual({ text: 'data: a\n\ndata: b\n\n', end: 'decoded' });
    const bytes = Array.from(encoded, (byte) => Buffer.from([byte]));
    expect(await decode(encoding, bytes)).toEqual({ text: 'data: a\n\ndata: b\n\n', end: 'decoded' });
  });
});

test('a large body in a stack of encodings comes out whole and in order', async () => {
  const source = Buffer.from(Array.from({ length: 200_000 }, (_, index) => `${(index * index) % 9_973} `).join(''));
  const { text, end } = await decode('gzip, br, zstd', [zstdCompressSync(brotliCompressSync(gzipSync(source)))]);
  expect(end).toBe('decoded');
  expect(text === source.toString()).toBe(true);
});

describe('trouble with an encoded body is told as a value', () => {
  test.each(['gzip', 'deflate', 'br', 'zstd'])('%s of something else is undecodable', async (encoding) => {
    const { text, end } = await decode(encoding, [
      Buffer.from('\x78\x9c{"error":"this is no compressed body at all"}'),
    ]);
    expect({ text, end }).toEqual({ text: '', end: 'undecodable' });
  });

  test('a small body that swells a thousandfold stops at the limit', async () => {
    const zeros = zstdCompressSync(Buffer.alloc(32 * 1024 * 1024));
    expect((await decode('zstd', [zeros])).end).toBe('limit');
    expect((await decode('zstd, br', [brotliCompressSync(zeros)])).end).toBe('limit');
  });

  test('beyond sixteen megabytes more than 1,100 bytes for one is too much, below it nothing is', async () => {
    const MIB = 1024 * 1024;
    const most = 16 * MIB;
    const swell = (bytes: number) => zstdCompressSync(Buffer.alloc(bytes));
    expect(swell(most).length * 1_100).toBeLessThan(most);
    expect(await countDecoded('zstd', [swell(most)])).toEqual({ bytes: most, end: 'decoded' });
    expect((await countDecoded('zstd', [swell(most + 1)])).end).toBe('limit');
    // The same bytes with as many encoded ones in front as make the ratio an ordinary one.
    const noise = randomBytes(32 * 1024);
    const ordinary = zstdCompressSync(Buffer.concat([noise, Buffer.alloc(20 * MIB)]));
    expect(await countDecoded('zstd', [ordinary])).toEqual({ bytes: 20 * MIB + noise.length, end: 'decoded' });
  });

  test('no gzip swells beyond the limit by itself', async () => {
    const bytes = 60 * 1024 * 1024;
    expect(await countDecoded('gzip', [gzipSync(Buffer.alloc(bytes))])).toEqual({ bytes, end: 'decoded' });
  });

  test('64 MiB are the most that is decoded of one body, whatever the ratio', async () => {
    const piece = zstdCompressSync(Buffer.concat([randomBytes(32 * 1024), Buffer.alloc(MAX_DECODED_BYTES / 8)]));
    const { bytes, end } = await countDecoded('zstd', Array<Buffer>(9).fill(piece));
    expect(end).toBe('limit');
    expect(bytes).toBeLessThanOrEqual(MAX_DECODED_BYTES);
  });

  test('input that comes faster than it is decoded stops at the limit', async () => {
    const piece = Buffer.alloc(MAX_PENDING_BYTES / 2 + 1, 1);
    expect((await decode('gzip', [piece, piece])).end).toBe('limit');
  });

  test('an unknown encoding and a stack of five have no decoder', () => {
    for (const encoding of ['compress', 'gzip, magic', 'gzip, gzip, gzip, gzip, gzip']) {
      expect(
        createContentDecoder(
          encoding,
          () => {},
          () => {},
        ),
      ).toBeNull();
    }
  });

  test('no header and identity need none', () => {
    expect([null, '', 'identity', ' Identity '].map(isIdentity)).toEqual([true, true, true, true]);
    expect(isIdentity('gzip')).toBe(false);
  });
});
