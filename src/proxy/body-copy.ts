/** A bounded copy of a body for the log: whole, or head and tail. Small chunks share blocks to save memory. */
import type { ByteBudget } from './byte-budget.ts';

/** Stored at most of one body in one direction. */
export const STORED_BODY_BYTES = 1024 * 1024;
const HEAD_BYTES = STORED_BODY_BYTES / 2;
const TAIL_BYTES = STORED_BODY_BYTES / 2;
/** Larger chunks are kept as they are; smaller ones are slices of a shared block and would keep it alive. */
const LARGE_CHUNK_BYTES = 4 * 1024;
const FIRST_BLOCK_BYTES = 4 * 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

export class BodyCopy {
  readonly #budget: ByteBudget;
  /** Closed parts of the head, in order. */
  #parts: Buffer[] = [];
  #block: Buffer | null = null;
  #filled = 0;
  #headBytes = 0;
  /** A ring buffer, allocated at the first byte beyond the head. */
  #tail: Buffer | null = null;
  #tailBytes = 0;
  #takenBytes = 0;
  #totalBytes = 0;
  #isDropped = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** True when memory was short and the copy was dropped. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  get isStored(): boolean {
    return this.#totalBytes > 0 && !this.#isDropped;
  }

  push(chunk: Buffer): void {
    const before = this.#totalBytes;
    this.#totalBytes += chunk.length;
    if (this.#isDropped) return;
    const intoHead = Math.min(chunk.length, Math.max(0, HEAD_BYTES - before));
    if (intoHead === chunk.length) this.#pushHead(chunk);
    else {
      if (intoHead > 0) this.#pushHead(chunk.subarray(0, intoHead));
      if (!this.#isDropped) this.#pushTail(chunk.subarray(intoHead));
    }
  }

  /** The kept bytes; the first `headBytes` of them are the head. */
  read(): { readonly bytes: Buffer; readonly headBytes: number } {
    const parts = [...this.#parts];
    if (this.#block !== null) parts.push(this.#block.subarray(0, this.#filled));
    if (this.#tail !== null) parts.push(...this.#readTail(this.#tail));
    const [only] = parts;
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    return { bytes, headBytes: this.#tailBytes <= TAIL_BYTES ? bytes.length : this.#headBytes };
  }

  /** Returns the memory to the budget and empties the copy. */
  release(): void {
    if (this.#takenBytes > 0) this.#budget.give(this.#takenBytes);
    this.#takenBytes = 0;
    this.#parts = [];
    this.#block = null;
    this.#tail = null;
    this.#headBytes = 0;
    this.#tailBytes = 0;
  }

  #pushHead(chunk: Buffer): void {
    this.#headBytes += chunk.length;
    // The first chunk is kept as it came: it is the only one of a small body.
    if (chunk.length >= LARGE_CHUNK_BYTES || this.#headBytes === chunk.length) {
      if (!this.#take(chunk.length)) return;
      this.#closeBlock();
      this.#parts.push(chunk);
      return;
    }
    if (this.#block === null || this.#filled + chunk.length > this.#block.length) {
      const bytes = Math.min(LARGEST_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#headBytes));
      if (!this.#take(bytes)) return;
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(bytes);
    }
    this.#filled += chunk.copy(this.#block, this.#filled);
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#parts.push(this.#block.subarray(0, this.#filled));
    this.#block = null;
    this.#filled = 0;
  }

  #pushTail(chunk: Buffer): void {
    if (this.#tail === null) {
      if (!this.#take(TAIL_BYTES)) return;
      this.#tail = Buffer.allocUnsafeSlow(TAIL_BYTES);
    }
    let at = Math.max(0, chunk.length - TAIL_BYTES);
    this.#tailBytes += at;
    while (at < chunk.length) {
      const copied = chunk.copy(this.#tail, this.#tailBytes % TAIL_BYTES, at);
      this.#tailBytes += copied;
      at += copied;
    }
  }

  #readTail(tail: Buffer): readonly Buffer[] {
    if (this.#tailBytes <= TAIL_BYTES) return [tail.subarray(0, this.#tailBytes)];
    const split = this.#tailBytes % TAIL_BYTES;
    return [tail.subarray(split), split === 0 ? EMPTY : tail.subarray(0, split)];
  }

  #take(bytes: number): boolean {
    if (this.#budget.take(bytes)) {
      this.#takenBytes += bytes;
      return true;
    }
    this.#isDropped = true;
    this.release();
    return false;
  }
}
