/** Results that calls of this process have fetched or caused, by their ids at the provider: each counts once. */
const MAX_KEPT = 20_000;

export class KnownResults {
  readonly #names = new Set<string>();

  /** False for one that is known. */
  add(name: string): boolean {
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    if (this.#names.size <= MAX_KEPT) return true;
    for (const oldest of this.#names) {
      this.#names.delete(oldest);
      break;
    }
    return true;
  }
}
