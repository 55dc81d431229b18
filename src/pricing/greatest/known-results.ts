/** Results that calls of this process have fetched or caused, by their ids at the provider: each counts once. */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';

const MAX_KEPT = 20_000;

export class KnownResults {
  readonly #names = new Set<string>();

  /** False for one that is known. */
  add(name: string): boolean {
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    dropOldest(this.#names, MAX_KEPT);
    return true;
  }
}
