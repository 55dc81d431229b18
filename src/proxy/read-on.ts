/**
 * The rest of an answer whose client has gone with all it wanted: the usage, the last event and the end, which mostly
 * come at once. They are read for the record, and so that the provider's connection can carry the next call; within
 * bounds, since nobody waits for them.
 */

export const READ_ON_MS = 1_000;
export const READ_ON_BYTES = 64 * 1024;

export class ReadOn {
  #bytes = 0;
  readonly #limit: NodeJS.Timeout;

  /** `giveUp` is called when the end has not come in time. */
  constructor(giveUp: () => void) {
    this.#limit = setTimeout(giveUp, READ_ON_MS);
  }

  /** False when this is more than what is worth reading. */
  take(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= READ_ON_BYTES;
  }

  end(): void {
    clearTimeout(this.#limit);
  }
}
