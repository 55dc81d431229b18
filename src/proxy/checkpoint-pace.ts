/**
 * When a call that says something of its usage has a checkpoint: always before its ending goes out, the first few times
 * at once, and from then on once in a while. It writes none.
 */
import type { UsageReading } from '../token-usage.ts';

/** Between two checkpoints of one call, except for the first few and for the one before the ending. */
const CHECKPOINT_INTERVAL_MS = 1_000;
/** Streams say their usage once or twice; those that say it in every chunk have to wait from then on. */
const PROMPT_CHECKPOINTS = 4;

export class CheckpointPace {
  #count = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isTerminalTold = false;

  /** Asked when there is news. */
  isDue(reading: UsageReading | null): boolean {
    if (this.isEndingNews(reading)) return true;
    if (this.#isTerminalTold) return false;
    return this.#count < PROMPT_CHECKPOINTS || performance.now() - this.#lastMs >= CHECKPOINT_INTERVAL_MS;
  }

  /** The stream's ending was read, and no checkpoint has it yet. */
  isEndingNews(reading: UsageReading | null): boolean {
    return reading?.terminal === true && !this.#isTerminalTold;
  }

  /** A checkpoint with this reading is being written. */
  told(reading: UsageReading | null): void {
    this.#lastMs = performance.now();
    this.#count += 1;
    if (reading?.terminal === true) this.#isTerminalTold = true;
  }
}
