/** Bounds how long and how much of an answer is read for the record after its client left satisfied. */

export const READ_ON_MS = 1_000;
export const READ_ON_BYTES = 64 * 1024;

export class ReadOn {
  #bytes = 0;
  readonly #limit: NodeJS.Timeout;

  constructor(giveUp: () => void) {
    this.#limit = setTimeout(giveUp, READ_ON_MS);
  }

  take(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= READ_ON_BYTES;
  }

  end(): void {
    clearTimeout(this.#limit);
  }
}
