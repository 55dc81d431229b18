/**
 * The bounded copy of one body for the log: all of it up to the limit, beyond that its head and its tail. Bytes are
 * copied into blocks of our own, so that a stream of small chunks does not keep thousands of buffers alive.
 */
import type { ByteBudget } from './byte-budget.ts';

/** Kept of one body in one direction. */
export const KEPT_BODY_BYTES = 1024 * 1024;
const HEAD_BYTES = KEPT_BODY_BYTES / 2;
const TAIL_BYTES = KEPT_BODY_BYTES / 2;
const FIRST_BLOCK_BYTES = 2 * 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;

export interface BodyCopy {
  push(chunk: Buffer): void;
  readonly totalBytes: number;
  /** True when memory was short and the copy is not whole although the body is within the limit. */
  readonly isDropped: boolean;
  /** Head and tail, and how many of the bytes are the head. */
  read(): { readonly bytes: Buffer; readonly headBytes: number };
  /** Gives the memory back; the copy is empty afterwards. */
  release(): void;
}

export function createBodyCopy(budget: ByteBudget): BodyCopy {
  /** Full blocks, in order; then `block`, filled up to `filled`. */
  let blocks: Buffer[] = [];
  let block: Buffer | null = null;
  let filled = 0;
  let headBytes = 0;
  /** Allocated at the first byte beyond the head: a ring. */
  let tail: Buffer | null = null;
  let tailBytes = 0;
  let totalBytes = 0;
  let takenBytes = 0;
  let isDropped = false;

  function allocate(bytes: number): Buffer | null {
    if (!budget.take(bytes)) return null;
    takenBytes += bytes;
    return Buffer.allocUnsafeSlow(bytes);
  }

  function pushHead(chunk: Buffer, from: number, to: number): void {
    let at = from;
    while (at < to) {
      if (block === null || filled === block.length) {
        if (block !== null) blocks.push(block);
        const wanted = block === null ? FIRST_BLOCK_BYTES : Math.min(block.length * 2, LARGEST_BLOCK_BYTES);
        block = allocate(Math.max(wanted, Math.min(to - at, LARGEST_BLOCK_BYTES)));
        filled = 0;
        if (block === null) {
          drop();
          return;
        }
      }
      const copied = chunk.copy(block, filled, at, to);
      filled += copied;
      at += copied;
      headBytes += copied;
    }
  }

  function pushTail(chunk: Buffer, from: number): void {
    tail ??= allocate(TAIL_BYTES);
    if (tail === null) {
      drop();
      return;
    }
    let at = Math.max(from, chunk.length - TAIL_BYTES);
    tailBytes += at - from;
    while (at < chunk.length) {
      const copied = chunk.copy(tail, tailBytes % TAIL_BYTES, at);
      tailBytes += copied;
      at += copied;
    }
  }

  function drop(): void {
    isDropped = true;
    release();
  }

  function release(): void {
    budget.give(takenBytes);
    takenBytes = 0;
    blocks = [];
    block = null;
    tail = null;
    headBytes = 0;
    tailBytes = 0;
  }

  return {
    push(chunk) {
      const before = totalBytes;
      totalBytes += chunk.length;
      if (isDropped) return;
      const intoHead = Math.min(chunk.length, Math.max(0, HEAD_BYTES - before));
      if (intoHead > 0) pushHead(chunk, 0, intoHead);
      if (intoHead < chunk.length && !isDropped) pushTail(chunk, intoHead);
    },
    get totalBytes() {
      return totalBytes;
    },
    get isDropped() {
      return isDropped;
    },
    read() {
      const parts = [...blocks];
      if (block !== null) parts.push(block.subarray(0, filled));
      if (tail !== null) {
        const split = tailBytes % TAIL_BYTES;
        if (tailBytes <= TAIL_BYTES) parts.push(tail.subarray(0, tailBytes));
        else parts.push(tail.subarray(split), tail.subarray(0, split));
      }
      const isWhole = tailBytes <= TAIL_BYTES;
      const bytes = Buffer.concat(parts);
      return { bytes, headBytes: isWhole ? bytes.length : headBytes };
    },
    release,
  };
}
