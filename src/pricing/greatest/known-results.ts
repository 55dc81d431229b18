/** Results that calls of this process have counted, by their ids at the provider: each counts once. */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';

const MAX_KEPT = 20_000;

export class KnownResults {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    dropOldest(this.#names, MAX_KEPT);
  }
}
