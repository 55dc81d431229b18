/** Decides when new usage gets a checkpoint: always before the ending, the first few times, then once in a while. */
import type { ReportedUsage } from '../vocabulary/token-usage.ts';

const CHECKPOINT_INTERVAL_MS = 1_000;
/** Most streams report usage once or twice; those that do so in every chunk are throttled from here on. */
const PROMPT_CHECKPOINTS = 4;

export class CheckpointThrottle {
  #count = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isTerminalWritten = false;

  isDue(reported: ReportedUsage | null): boolean {
    if (this.isEndingNews(reported)) return true;
    if (this.#isTerminalWritten) return false;
    return this.#count < PROMPT_CHECKPOINTS || performance.now() - this.#lastMs >= CHECKPOINT_INTERVAL_MS;
  }

  /** The stream's ending was read and no checkpoint has it yet. */
  isEndingNews(reported: ReportedUsage | null): boolean {
    return reported?.terminal === true && !this.#isTerminalWritten;
  }

  noteWritten(reported: ReportedUsage | null): void {
    this.#lastMs = performance.now();
    this.#count += 1;
    if (reported?.terminal === true) this.#isTerminalWritten = true;
  }
}
