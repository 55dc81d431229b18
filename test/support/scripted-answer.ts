/**
 * What a scripted provider writes, as a row of steps, and a builder for the usual answers with chosen framing, cuts,
 * encoding and faults. Bytes are written as given: odd header case, duplicates and Latin-1 survive.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

export type AnswerStep =
  /** Strings are Latin-1. */
  | { readonly write: Buffer | string }
  | { readonly waitMs: number }
  | { readonly waitFor: Promise<unknown> }
  /** RST: what a crashed provider looks like. */
  | { readonly reset: true }
  /** FIN after what was written. */
  | { readonly end: true };

export interface AnswerOptions {
  readonly status?: number;
  readonly reason?: string;
  /** In this order and case; framing and encoding headers are added behind them. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Buffer | string;
  readonly framing?: 'length' | 'chunked' | 'close' | 'none';
  /** Offsets in the (encoded) body at which it is cut into writes, and into chunks when it is chunked. */
  readonly cuts?: readonly number[];
  readonly delayMs?: number;
  readonly encoding?: 'gzip' | 'deflate' | 'br' | 'zstd';
  /** Heads of 1xx answers before the real one, e.g. `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`. */
  readonly informational?: readonly string[];
  /** Put behind each chunk's size, e.g. `;name=value`. */
  readonly chunkExtension?: string;
  readonly trailers?: readonly (readonly [string, string])[];
  /** Where the connection is reset; `{ bodyWrites: n }` after so many pieces of the body. */
  readonly resetAt?: 'before-headers' | 'after-headers' | { readonly bodyWrites: number };
}

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;

export function cutBytes(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).flatMap((end, index) => {
    const piece = bytes.subarray(edges[index], end);
    return piece.length > 0 ? [piece] : [];
  });
}

function headText(options: AnswerOptions, framing: string, bodyBytes: number): string {
  const { status = 200, reason = 'OK', headers = [], encoding, trailers = [] } = options;
  const lines = [
    `HTTP/1.1 ${status} ${reason}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(encoding === undefined ? [] : [`Content-Encoding: ${encoding}`]),
    ...(trailers.length === 0 ? [] : [`Trailer: ${trailers.map(([name]) => name).join(', ')}`]),
    ...(framing === 'length' ? [`Content-Length: ${bodyBytes}`] : []),
    ...(framing === 'chunked' ? ['Transfer-Encoding: chunked'] : []),
    ...(framing === 'close' ? ['Connection: close'] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

export function buildAnswer(options: AnswerOptions): AnswerStep[] {
  const { body = '', cuts = [], delayMs, encoding, resetAt, chunkExtension = '', framing = 'length' } = options;
  const plain = typeof body === 'string' ? Buffer.from(body) : body;
  const bytes = encoding === undefined ? plain : ENCODERS[encoding](plain);
  const pieces = framing === 'none' ? [] : cutBytes(bytes, cuts);
  const wait: AnswerStep[] = delayMs === undefined ? [] : [{ waitMs: delayMs }];
  const framed = (piece: Buffer): Buffer =>
    framing === 'chunked'
      ? Buffer.concat([
          Buffer.from(`${piece.length.toString(16)}${chunkExtension}\r\n`, 'latin1'),
          piece,
          Buffer.from('\r\n'),
        ])
      : piece;
  const writes = pieces.map((piece): AnswerStep[] => [...wait, { write: framed(piece) }]);
  const head: AnswerStep[] = [{ write: headText(options, framing, bytes.length) }];
  if (resetAt === 'before-headers') return [{ reset: true }];
  if (resetAt === 'after-headers') return [...head, { waitMs: 20 }, { reset: true }];
  // The reset waits a little: it would overtake and destroy what was written just before.
  if (resetAt !== undefined)
    return [...head, ...writes.slice(0, resetAt.bodyWrites).flat(), { waitMs: 20 }, { reset: true }];
  const trailerLines = (options.trailers ?? []).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return [
    ...(options.informational ?? []).map((write) => ({ write })),
    ...head,
    ...writes.flat(),
    ...(framing === 'chunked' ? [{ write: `0\r\n${trailerLines}\r\n` }] : []),
    ...(framing === 'close' ? [{ end: true } as const] : []),
  ];
}
