/** Decodes a copy of a gzip, deflate, br or zstd body beside the call. It is bounded and never throws. */
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

export const MAX_DECODED_BYTES = 64 * 1024 * 1024;
/** Bounds the encoded bytes that wait; a fast embeddings answer fits. */
export const MAX_PENDING_BYTES = 8 * 1024 * 1024;
/** More than gzip can do with any text (1,032). */
const MAX_RATIO = 1100;
/** Below this size any ratio is decoded: brotli and zstd compress repetitive text strongly. */
const RATIO_FROM_BYTES = 16 * 1024 * 1024;
const MAX_STACKED = 4;
/** Bounds the bytes between two stacked decoders. */
const MAX_BETWEEN_BYTES = 256 * 1024;

export type DecodeEnd =
  /** Everything given was decoded; the encoded body itself may have been cut. */
  'decoded' | 'undecodable' | 'limit';

export interface ContentDecoder {
  readonly push: (chunk: Buffer) => void;
  /** No more input follows. `onEnd` comes afterwards, unless it came before. */
  readonly end: () => void;
  /** Calls `done` when what was pushed is decoded or decoding is over. One at a time. */
  readonly settle: (done: () => void) => void;
  /** Stops at once, without further callbacks. */
  readonly destroy: () => void;
  readonly pendingBytes: number;
}

export function isIdentity(contentEncoding: string | null): boolean {
  return contentEncoding === null || listEncodings(contentEncoding).length === 0;
}

function listEncodings(contentEncoding: string | null): string[] {
  return (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
}

const GZIP = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH } as const;

function createStage(encoding: string, firstBytes: Buffer): Transform | null {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(GZIP);
    case 'deflate':
      return isZlib(firstBytes) ? createInflate(GZIP) : createInflateRaw(GZIP);
    case 'br':
      return createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    case 'zstd':
      return createZstdDecompress({ flush: constants.ZSTD_e_flush, finishFlush: constants.ZSTD_e_flush });
    default:
      return null;
  }
}

/** `deflate` means zlib (RFC 1950), but raw deflate (RFC 1951) in much software: the first two bytes tell. */
function isZlib(bytes: Buffer): boolean {
  const [first, second] = bytes;
  return first !== undefined && second !== undefined && (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

function isTruncation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : null;
  return code === 'Z_BUF_ERROR' || error.message === 'unexpected end of file';
}

/** One decoder of the stack, created with its first two bytes. */
interface Stage {
  readonly write: (chunk: Buffer, written: () => void) => void;
  readonly end: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly destroy: () => void;
}

function createLazyStage(encoding: string, onData: (chunk: Buffer) => void, onEnd: (error: unknown) => void): Stage {
  let stream: Transform | null = null;
  let head: Buffer | null = null;

  function open(firstBytes: Buffer): Transform | null {
    const made = createStage(encoding, firstBytes);
    if (made === null) {
      onEnd(new Error('unknown content encoding'));
      return null;
    }
    stream = made;
    made.on('data', onData);
    made.once('end', () => onEnd(null));
    made.on('error', onEnd);
    return made;
  }

  return {
    write: (chunk, written) => {
      if (stream !== null) {
        stream.write(chunk, written);
        return;
      }
      const bytes = head === null ? chunk : Buffer.concat([head, chunk]);
      if (bytes.length < 2) {
        head = bytes;
        written();
        return;
      }
      head = null;
      open(bytes)?.write(bytes, written);
    },
    end: () => {
      if (stream !== null) stream.end();
      else if (head === null) onEnd(null);
      else open(head)?.end(head);
    },
    pause: () => stream?.pause(),
    resume: () => stream?.resume(),
    destroy: () => stream?.destroy(),
  };
}

/** Null when an encoding is unknown or there are more than four. */
export function createContentDecoder(
  contentEncoding: string,
  onData: (chunk: Buffer) => void,
  onEnd: (end: DecodeEnd) => void,
): ContentDecoder | null {
  const encodings = listEncodings(contentEncoding);
  const known = encodings.every((name) => ['gzip', 'x-gzip', 'deflate', 'br', 'zstd'].includes(name));
  if (!known || encodings.length === 0 || encodings.length > MAX_STACKED) return null;

  // Mutable stream state; `ended` reports the end once.
  let ended = false;
  let pendingBytes = 0;
  let consumedBytes = 0;
  let onSettled: (() => void) | null = null;
  const stages: Stage[] = [];

  function finish(end: DecodeEnd): void {
    if (ended) return;
    ended = true;
    for (const stage of stages) stage.destroy();
    onEnd(end);
    reportSettled();
  }

  function reportSettled(): void {
    const done = onSettled;
    onSettled = null;
    done?.();
  }

  function isOverLimit(bytes: number): boolean {
    return bytes > MAX_DECODED_BYTES || (bytes > RATIO_FROM_BYTES && bytes > MAX_RATIO * consumedBytes);
  }

  function addStage(encoding: string, next: Stage | null): Stage {
    // Each stage is counted, so that a bomb cannot hide inside a stack.
    let stageBytes = 0;
    let betweenBytes = 0;

    function passOn(chunk: Buffer, to: Stage): void {
      betweenBytes += chunk.length;
      if (betweenBytes > MAX_BETWEEN_BYTES) stage.pause();
      to.write(chunk, () => {
        betweenBytes -= chunk.length;
        if (!ended && betweenBytes <= MAX_BETWEEN_BYTES) stage.resume();
      });
    }

    const stage = createLazyStage(
      encoding,
      (chunk) => {
        if (ended) return;
        stageBytes += chunk.length;
        if (isOverLimit(stageBytes)) finish('limit');
        else if (next !== null) passOn(chunk, next);
        else onData(chunk);
      },
      (error) => {
        if (ended) return;
        if (error !== null && !isTruncation(error)) finish('undecodable');
        else if (next !== null) next.end();
        else finish('decoded');
      },
    );
    stages.push(stage);
    return stage;
  }

  // The header lists encodings in order of application, so the last is removed first.
  const first = encodings.reduce<Stage | null>((next, encoding) => addStage(encoding, next), null);

  return {
    push: (chunk) => {
      if (ended || first === null) return;
      pendingBytes += chunk.length;
      consumedBytes += chunk.length;
      if (pendingBytes > MAX_PENDING_BYTES) {
        finish('limit');
        return;
      }
      first.write(chunk, () => {
        pendingBytes -= chunk.length;
        // Decoded data is delivered in this turn of the loop.
        if (pendingBytes === 0 && onSettled !== null) setImmediate(reportSettled);
      });
    },
    settle: (done) => {
      if (ended || pendingBytes === 0) done();
      else onSettled = done;
    },
    end: () => {
      if (!ended) first?.end();
    },
    destroy: () => {
      ended = true;
      for (const stage of stages) stage.destroy();
    },
    get pendingBytes() {
      return ended ? 0 : pendingBytes;
    },
  };
}
