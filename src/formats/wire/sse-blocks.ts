/** Cuts a server-sent event stream into blocks, byte for byte, at LF, CRLF or CR. It reads no fields. */
import { createGatheredBytes, type GatheredBytes } from './gathered-bytes.ts';

const LF = 10;
const CR = 13;

/** Inside a line, after a line end, or after a blank line whose CR may still get its LF. */
type ScanState = 'line' | 'after-lf' | 'after-cr' | 'blank-cr';

/** `mayHaveLineEnd` false: the piece is within one line. */
type OnPiece = (piece: Buffer, mayHaveLineEnd: boolean) => void;

export interface SseBlockSplitter {
  /** Calls `onBlock` for each completed block; null for one that was diverted. */
  readonly push: (chunk: Buffer) => void;
  /** Takes out the incomplete block; null when empty. */
  readonly takePending: () => Buffer | null;
  /** Diverts the incomplete block's bytes, held and to come; its end is reported as null. */
  readonly divertPending: (onPiece: OnPiece) => void;
  readonly pendingBytes: number;
}

/** Boundaries do not depend on chunking: a blank line that ends in CR waits for the next byte. */
export function createSseBlockSplitter(onBlock: (block: Buffer | null) => void): SseBlockSplitter {
  // Mutable because a stream is read in pieces: the held pieces and the scan's state.
  const pending = createGatheredBytes();
  let onPiece: OnPiece | null = null;
  let state: ScanState = 'line';

  function emit(chunk: Buffer, from: number, to: number): void {
    state = 'line';
    if (onPiece !== null) {
      onPiece(chunk.subarray(from, to), true);
      onPiece = null;
      onBlock(null);
      return;
    }
    const last = from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to);
    onBlock(pending.length === 0 ? last : pending.take(last));
  }

  function push(chunk: Buffer): void {
    const length = chunk.length;
    let blockStart = 0;
    let pos = 0;
    // Most streams have no CR, so it is looked for once a chunk.
    let crAt = chunk.indexOf(CR);
    let hasLineEnd = crAt !== -1 || state !== 'line';
    while (pos < length) {
      if (state === 'line' && pos === blockStart && isLineEnd(chunk[pos]) && pending.length === 0 && onPiece === null) {
        // Consecutive blank lines are one block: there may be millions.
        while (pos < length && isLineEnd(chunk[pos])) pos += 1;
        if (pos === length && chunk[pos - 1] === CR) {
          state = 'blank-cr';
          break;
        }
        emit(chunk, blockStart, pos);
        blockStart = pos;
        continue;
      }
      if (state === 'line') {
        const lfAt = chunk.indexOf(LF, pos);
        if (crAt !== -1 && crAt < pos) crAt = chunk.indexOf(CR, pos);
        if (crAt !== -1 && (lfAt === -1 || crAt < lfAt)) {
          state = 'after-cr';
          pos = crAt + 1;
        } else if (lfAt === -1) {
          break;
        } else {
          hasLineEnd = true;
          state = 'after-lf';
          pos = lfAt + 1;
        }
        continue;
      }
      const byte = chunk[pos];
      if (state === 'blank-cr') {
        if (byte === LF) pos += 1;
        emit(chunk, blockStart, pos);
        blockStart = pos;
      } else if (byte === CR) {
        state = 'blank-cr';
        pos += 1;
      } else if (byte !== LF) {
        state = 'line';
      } else if (state === 'after-cr') {
        state = 'after-lf';
        pos += 1;
      } else {
        pos += 1;
        emit(chunk, blockStart, pos);
        blockStart = pos;
      }
    }
    if (blockStart === length) return;
    const rest = chunk.subarray(blockStart);
    if (onPiece === null) pending.push(rest);
    else onPiece(rest, blockStart > 0 || hasLineEnd);
  }

  function divertPending(take: OnPiece): void {
    for (const part of pending.takeParts()) take(part, true);
    onPiece = take;
  }

  return new BlockSplitter(pending, push, divertPending);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** A class for the reason given in `gathered-bytes.ts`. */
class BlockSplitter implements SseBlockSplitter {
  readonly push: (chunk: Buffer) => void;
  readonly divertPending: SseBlockSplitter['divertPending'];
  readonly #pending: GatheredBytes;

  constructor(pending: GatheredBytes, push: (chunk: Buffer) => void, divertPending: SseBlockSplitter['divertPending']) {
    this.#pending = pending;
    this.push = push;
    this.divertPending = divertPending;
  }

  takePending(): Buffer | null {
    return this.#pending.take(null);
  }

  get pendingBytes(): number {
    return this.#pending.length;
  }
}
