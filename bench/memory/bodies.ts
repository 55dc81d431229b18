/** Bodies of hundreds of megabytes as rows of small buffers, made while they are sent. Nothing is kept. */
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

export const MIB = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;

export type Pieces = () => Iterable<Buffer>;

/** `head`, then `bytes` of a repeated text, then `tail`. */
export function filled(head: string | Buffer, text: string, bytes: number, tail: string): Pieces {
  const block = Buffer.alloc(BLOCK_BYTES, text);
  return function* pieces() {
    yield Buffer.isBuffer(head) ? head : Buffer.from(head);
    for (let left = bytes; left > 0; left -= block.length) yield left < block.length ? block.subarray(0, left) : block;
    yield Buffer.from(tail);
  };
}

/** `head`, then numbered copies of an item until there are so many bytes, then `tail`. */
export function numbered(head: string, item: (index: number) => string, bytes: number, tail: string): Pieces {
  return function* pieces() {
    yield Buffer.from(head);
    let index = 0;
    for (let sent = 0; sent < bytes; ) {
      let text = '';
      while (text.length < BLOCK_BYTES) text += item(index++);
      const piece = Buffer.from(text);
      sent += piece.length;
      yield piece;
    }
    yield Buffer.from(tail);
  };
}

export function lengthOf(pieces: Pieces): number {
  let bytes = 0;
  for (const piece of pieces()) bytes += piece.length;
  return bytes;
}

export function whole(bytes: Buffer): Pieces {
  return () =>
    Array.from({ length: Math.ceil(bytes.length / BLOCK_BYTES) }, (_, index) =>
      bytes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES),
    );
}

export function gzipBomb(bytes: number): Buffer {
  return gzipSync(Buffer.alloc(bytes));
}

export function zstdBomb(bytes: number): Buffer {
  return zstdCompressSync(Buffer.alloc(bytes));
}

export function brotliBomb(bytes: number): Buffer {
  return brotliCompressSync(Buffer.alloc(bytes), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** A frame whose prelude announces so many bytes and whose checksums are those of that prelude. */
export function framePrelude(totalBytes: number, checksum: (bytes: Buffer) => number): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(totalBytes, 0);
  prelude.writeUInt32BE(0, 4);
  prelude.writeUInt32BE(checksum(prelude.subarray(0, 8)), 8);
  return prelude;
}
