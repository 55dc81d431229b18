/**
 * Reads the body of one HTTP/1.1 message by its framing and keeps both the bytes as they were framed and the bytes
 * meant. For tests only, where what was on the wire must be seen exactly; it refuses nothing that it can read.
 */

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** Until the connection ends. */
  | { readonly kind: 'close' };

export interface BodyReader {
  /** Takes what belongs to this body and returns how many bytes that was. */
  readonly push: (bytes: Buffer) => number;
  readonly isDone: () => boolean;
  readonly body: () => Buffer;
  /** With chunk sizes, extensions and trailers. */
  readonly framedBody: () => Buffer;
  /** The lines of the chunks' sizes, extensions included. */
  readonly chunkLines: () => readonly string[];
  /** Flat: name, value, name, value. */
  readonly trailers: () => readonly string[];
}

export function splitHeaderLines(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}

/** The value of the first header of that name (in any case) in a flat list, or null. */
export function readHeader(rawHeaders: readonly string[], name: string): string | null {
  const index = rawHeaders.findIndex((entry, at) => at % 2 === 0 && entry.toLowerCase() === name.toLowerCase());
  return index < 0 ? null : (rawHeaders[index + 1] ?? null);
}

export function readFraming(rawHeaders: readonly string[], without: 'none' | 'close'): Framing {
  if (/\bchunked\b/i.test(readHeader(rawHeaders, 'transfer-encoding') ?? '')) return { kind: 'chunked' };
  const length = readHeader(rawHeaders, 'content-length');
  return length === null ? { kind: without } : { kind: 'length', length: Number(length) };
}

type ChunkState = 'size' | 'bytes' | 'bytes-end' | 'trailers' | 'done';

export function createBodyReader(framing: Framing): BodyReader {
  const body: Buffer[] = [];
  const framed: Buffer[] = [];
  const chunkLines: string[] = [];
  const trailerLines: string[] = [];
  let left = framing.kind === 'length' ? framing.length : 0;
  let state: ChunkState = 'size';
  // A line that is not whole yet: the size of a chunk or a trailer.
  let line = '';

  function takeLine(bytes: Buffer): number {
    const end = bytes.indexOf('\n');
    line += bytes.toString('latin1', 0, end < 0 ? bytes.length : end + 1);
    if (end < 0) return bytes.length;
    const text = line.replace(/\r?\n$/, '');
    line = '';
    if (state === 'size') {
      chunkLines.push(text);
      left = Number.parseInt(text, 16);
      state = left > 0 ? 'bytes' : 'trailers';
    } else if (state === 'bytes-end') {
      state = 'size';
    } else if (text === '') {
      state = 'done';
    } else {
      trailerLines.push(text);
    }
    return end + 1;
  }

  function takeBytes(bytes: Buffer): number {
    const part = bytes.subarray(0, left);
    body.push(part);
    left -= part.length;
    if (left === 0) state = 'bytes-end';
    return part.length;
  }

  function pushChunked(bytes: Buffer): number {
    let taken = 0;
    while (taken < bytes.length && state !== 'done') {
      const rest = bytes.subarray(taken);
      taken += state === 'bytes' ? takeBytes(rest) : takeLine(rest);
    }
    return taken;
  }

  function push(bytes: Buffer): number {
    if (framing.kind === 'none') return 0;
    const taken =
      framing.kind === 'chunked'
        ? pushChunked(bytes)
        : framing.kind === 'close'
          ? bytes.length
          : Math.min(left, bytes.length);
    const part = bytes.subarray(0, taken);
    framed.push(part);
    if (framing.kind === 'chunked') return taken;
    body.push(part);
    left -= taken;
    return taken;
  }

  function isDone(): boolean {
    if (framing.kind === 'chunked') return state === 'done';
    return framing.kind === 'none' || (framing.kind === 'length' && left === 0);
  }

  return {
    push,
    isDone,
    body: () => Buffer.concat(body),
    framedBody: () => Buffer.concat(framed),
    chunkLines: () => chunkLines,
    trailers: () => splitHeaderLines(trailerLines),
  };
}
