/** Gathers the pieces of one incomplete unit. It is unbounded: the caller checks `length` and clears. */

/** A larger piece is kept as is; a smaller one would keep a whole network buffer alive. */
const KEPT_FROM_BYTES = 4 * 1024;
const FIRST_BLOCK_BYTES = 1024;
const LARGEST_BLOCK_BYTES = 64 * 1024;

export interface GatheredBytes {
  readonly push: (piece: Buffer) => void;
  /** Takes everything and `last` out as one buffer; null when there is nothing. */
  readonly take: (last: Buffer | null) => Buffer | null;
  /** Takes the pieces out, in order. */
  readonly takeParts: () => readonly Buffer[];
  readonly clear: () => void;
  readonly length: number;
}

export function createGatheredBytes(): GatheredBytes {
  return new Gathered();
}

/** A class, since each object literal with a getter gets its own hidden class. */
class Gathered implements GatheredBytes {
  #parts: Buffer[] = [];
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
