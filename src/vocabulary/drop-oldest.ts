/** For what is remembered within a bound: maps and sets, which keep the order in which their entries came. */

interface Kept<K> {
  readonly size: number;
  keys(): Iterable<K>;
  delete(key: K): boolean;
}

/** Forgets the entry that came first where there are more than `most`; to be called after each one that comes. */
export function dropOldest<K>(kept: Kept<K>, most: number): void {
  if (kept.size <= most) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
