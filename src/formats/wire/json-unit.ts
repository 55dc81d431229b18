/** One JSON text that arrives in pieces; above a size it is thinned as it comes. */
import { createGatheredBytes } from './gathered-bytes.ts';
import { JsonThinner } from './json-thinner.ts';

export const LARGE_JSON_BYTES = 128 * 1024;

export class JsonUnit {
  readonly #pending = createGatheredBytes();
  readonly #onUnread: () => void;
  readonly #largeBytes: number;
  #thinner: JsonThinner | null = null;

  /** `onUnread` is called once for each text that lost something that may matter, never below `largeBytes`. */
  constructor(onUnread: () => void, largeBytes = LARGE_JSON_BYTES) {
    this.#onUnread = onUnread;
    this.#largeBytes = largeBytes;
  }

  get length(): number {
    return this.#thinner?.length ?? this.#pending.length;
  }

  get isEmpty(): boolean {
    return this.#thinner === null && this.#pending.length === 0;
  }

  push(piece: Buffer): void {
    if (this.#thinner !== null) this.#thinner.push(piece);
    else {
      this.#pending.push(piece);
      if (this.#pending.length > this.#largeBytes) this.#beginThinning();
    }
  }

  /** Takes out the text with `last` behind it; null when empty or not JSON. */
  take(last: Buffer | null): Buffer | null {
    const lastBytes = last?.length ?? 0;
    if (this.#thinner === null) {
      if (this.#pending.length + lastBytes <= this.#largeBytes) return this.#pending.take(last);
      this.#beginThinning();
    }
    const thinner = this.#thinner;
    this.#thinner = null;
    if (thinner === null) return null;
    if (last !== null) thinner.push(last);
    if (thinner.isUnread) this.#onUnread();
    return thinner.take();
  }

  #beginThinning(): void {
    const thinner = new JsonThinner();
    for (const part of this.#pending.takeParts()) thinner.push(part);
    this.#thinner = thinner;
  }
}
