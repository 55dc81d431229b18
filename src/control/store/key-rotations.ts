/** Which keys are one, as far as limits, budgets and brakes go: the halves of a rotation, and those of the rotations before it. */

import type pg from 'pg';

interface RotatedKey {
  readonly keyId: number;
  readonly replacedBy: number | null;
}

export type FirstKeys = ReadonlyMap<number, number>;

/** Of all accounts: a key's number is its own in all of them. */
export async function readFirstKeys(pool: pg.Pool): Promise<FirstKeys> {
  const { rows } = await pool.query<RotatedKey>(
    'select id as "keyId", replaced_by as "replacedBy" from gateway_keys where replaced_by is not null',
  );
  return listFirstKeys(rows);
}

/** The numbers of all that are one with this key, itself too, the oldest first. */
export function listHalves(firstKeys: FirstKeys, keyId: number): readonly number[] {
  const own = firstKeys.get(keyId) ?? keyId;
  return [own, ...[...firstKeys].flatMap(([id, first]) => (first === own ? [id] : []))];
}

/** The first key of each that took another one's place. */
export function listFirstKeys(keys: readonly RotatedKey[]): FirstKeys {
  const replaced = new Map(keys.flatMap(({ keyId, replacedBy }) => (replacedBy === null ? [] : [[replacedBy, keyId]])));
  const first = new Map<number, number>();
  // A key is younger than those that it replaces.
  for (const keyId of [...replaced.keys()].sort((a, b) => a - b)) {
    const before = replaced.get(keyId) ?? keyId;
    first.set(keyId, first.get(before) ?? before);
  }
  return first;
}
