/**
 * Pieces of one unit (an event, a line, a frame) that is not whole yet. Small pieces are gathered in blocks, so that a
 * unit that comes byte by byte does not become millions of buffers; large ones are kept as they came. It sets no bound
 * of its own: who pushes asks `length` and clears.
 */

/** A piece of at least this is kept without copying; a smaller one would keep a large network buffer alive. */
const KEPT_FROM_BYTES = 4 * 1024;
const FIRST_BLOCK_BYTES = 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;

export interface GatheredBytes {
  readonly push: (piece: Buffer) => void;
  /** All pieces and `last` as one buffer, taken out; null when there is nothing. */
  readonly take: (last: Buffer | null) => Buffer | null;
  /** The same as they are held, in order, taken out. */
  readonly takeParts: () => readonly Buffer[];
  readonly clear: () => void;
  readonly length: number;
}

export function createGatheredBytes(): GatheredBytes {
  return new Gathered();
}

/** A class, since `length` is asked for with every chunk: each object literal with a getter has a hidden class of its own. */
class Gathered implements GatheredBytes {
  #parts: Buffer[] = [];
  /** The block that is being filled. */
  #block: Buffer | null = null;
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    if (piece.length >= KEPT_FROM_BYTES) {
      this.#closeBlock();
      this.#parts.push(piece);
    } else if (piece.length > 0) {
      if (this.#block === null || this.#filled + piece.length > this.#block.length) {
        this.#closeBlock();
        const wanted = Math.max(FIRST_BLOCK_BYTES, piece.length, this.#length);
        this.#block = Buffer.allocUnsafe(Math.min(wanted, LARGEST_BLOCK_BYTES));
      }
      this.#filled += piece.copy(this.#block, this.#filled);
    }
    this.#length += piece.length;
  }

  take(last: Buffer | null): Buffer | null {
    if (this.#length === 0) return last;
    this.#closeBlock();
    const all = last === null ? this.#parts : [...this.#parts, last];
    const whole = all.length === 1 ? (all[0] ?? null) : Buffer.concat(all);
    this.clear();
    return whole;
  }

  takeParts(): readonly Buffer[] {
    this.#closeBlock();
    const parts = this.#parts;
    this.clear();
    return parts;
  }

  clear(): void {
    this.#parts = [];
    this.#block = null;
    this.#filled = 0;
    this.#length = 0;
  }

  #closeBlock(): void {
    if (this.#block !== null) this.#parts.push(this.#block.subarray(0, this.#filled));
    this.#block = null;
    this.#filled = 0;
  }
}
