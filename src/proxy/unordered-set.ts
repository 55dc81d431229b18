/**
 * A set for members that come and go thousands of times a second. A `Set` reallocates its table every few hundred
 * calls, and an old table keeps all later calls alive until a full collection: a fifth of a call's CPU.
 */
export class UnorderedSet<T> implements Iterable<T> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Callers add a member only once. */
  add(member: T): void {
    this.#members.push(member);
  }

  /** Searches from the end, since the latest mostly leave first. The last member takes the free place. */
  delete(member: T): void {
    const members = this.#members;
    for (let index = members.length - 1; index >= 0; index -= 1) {
      if (members[index] !== member) continue;
      const last = members.pop();
      if (last !== undefined && index < members.length) members[index] = last;
      return;
    }
  }

  /** Iterates over a copy, so members may be added and deleted meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#members][Symbol.iterator]();
  }
}
