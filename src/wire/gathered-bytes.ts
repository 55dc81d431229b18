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
  readonly clear: () => void;
  readonly length: number;
}

export function createGatheredBytes(): GatheredBytes {
  // Mutable because a unit comes piece by piece: what is gathered, and the block that is being filled.
  let parts: Buffer[] = [];
  let block: Buffer | null = null;
  let filled = 0;
  let length = 0;

  function closeBlock(): void {
    if (block !== null) parts.push(block.subarray(0, filled));
    block = null;
    filled = 0;
  }

  function clear(): void {
    parts = [];
    block = null;
    filled = 0;
    length = 0;
  }

  function push(piece: Buffer): void {
    if (piece.length >= KEPT_FROM_BYTES) {
      closeBlock();
      parts.push(piece);
    } else if (piece.length > 0) {
      if (block === null || filled + piece.length > block.length) {
        closeBlock();
        const wanted = Math.max(FIRST_BLOCK_BYTES, piece.length, length);
        block = Buffer.allocUnsafe(Math.min(wanted, LARGEST_BLOCK_BYTES));
      }
      filled += piece.copy(block, filled);
    }
    length += piece.length;
  }

  function take(last: Buffer | null): Buffer | null {
    if (length === 0) return last;
    closeBlock();
    const all = last === null ? parts : [...parts, last];
    const whole = all.length === 1 ? (all[0] ?? null) : Buffer.concat(all);
    clear();
    return whole;
  }

  return {
    push,
    take,
    clear,
    get length() {
      return length;
    },
  };
}
