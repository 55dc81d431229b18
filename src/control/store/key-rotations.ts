/** Which keys are one, as far as limits and budgets go: the halves of a rotation, and those of the rotations before it. */

interface RotatedKey {
  readonly keyId: number;
  readonly replacedBy: number | null;
}

/** The first key of each that took another one's place. */
export function listFirstKeys(keys: readonly RotatedKey[]): ReadonlyMap<number, number> {
  const replaced = new Map(keys.flatMap(({ keyId, replacedBy }) => (replacedBy === null ? [] : [[replacedBy, keyId]])));
  const first = new Map<number, number>();
  // A key is younger than those that it replaces.
  for (const keyId of [...replaced.keys()].sort((a, b) => a - b)) {
    const before = replaced.get(keyId) ?? keyId;
    first.set(keyId, first.get(before) ?? before);
  }
  return first;
}
