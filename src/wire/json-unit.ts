/**
 * One JSON text (a body, an event, an element, a line) that comes in pieces: gathered as it is up to a size, and made
 * thinner while it comes beyond that, so that it is read however large it is.
 */
import { createGatheredBytes } from './gathered-bytes.ts';
import { JsonThinner } from './json-thinner.ts';

/** A larger text is thinned, where its reader asks for nothing else. */
export const LARGE_JSON_BYTES = 128 * 1024;

export class JsonUnit {
  readonly #pending = createGatheredBytes();
  readonly #onUnread: () => void;
  readonly #largeBytes: number;
  #thinner: JsonThinner | null = null;

  /**
   * `onUnread` is called once for each text of which something was not kept that may have mattered; one of at most
   * `largeBytes` is kept as it is.
   */
  constructor(onUnread: () => void, largeBytes = LARGE_JSON_BYTES) {
    this.#onUnread = onUnread;
    this.#largeBytes = largeBytes;
  }

  /** Bytes held. */
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

  /** The text with `last` behind it, taken out; null when there is none, or it was no JSON. */
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
