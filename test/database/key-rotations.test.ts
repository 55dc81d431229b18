/** Which key of several rotations may be rotated, and that all of them stay one. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertKey, listKeys, revokeKey, rotateKey } from '../../src/control/store/gateway-keys.ts';
import { listFirstKeys } from '../../src/control/store/key-rotations.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

let server: TestPostgres;
let pool: pg.Pool;
beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  server = await startPostgres(kind);
  pool = openTestPool(await server.createDatabase('rotations'));
}, 60_000);
afterAll(async () => {
  await pool.end();
  await server.remove();
});

const secret = () => ({ digest: randomBytes(32).toString('hex'), prefix: 'tg_abcd', last4: 'wxyz' });
const create = async (name: string) => (await insertKey(pool, { accountId: 1, name, ...secret() })).key.keyId;

/** The new key's number, or why there is none. */
async function rotate(keyId: number, overlapSeconds = 3_600) {
  const rotated = await rotateKey(pool, 1, keyId, secret(), overlapSeconds);
  return typeof rotated === 'object' && 'key' in rotated ? rotated.key.keyId : rotated;
}

async function made(keyId: number, overlapSeconds?: number): Promise<number> {
  const key = await rotate(keyId, overlapSeconds);
  if (typeof key !== 'number') throw new Error('it was refused');
  return key;
}

async function stateOf(...keyIds: number[]) {
  const keys = await listKeys(pool, 1);
  const first = listFirstKeys(keys);
  return keyIds.map((id) => {
    const key = keys.find(({ keyId }) => keyId === id);
    return [key?.name, first.get(id) ?? id, key?.replacedBy, key?.revokedAtMs === null];
  });
}

test('a key whose successor was revoked is rotated again, and the new key comes behind the revoked one', async () => {
  const first = await create('agent');
  const second = await made(first);
  await revokeKey(pool, 1, second);
  const third = await made(first);
  expect(await stateOf(first, second, third)).toEqual([
    ['agent', first, second, true],
    ['agent', first, third, false],
    ['agent', first, null, true],
  ]);
  expect(await rotate(second)).toBe('revoked');
  expect(await rotate(first)).toEqual({ replacedBy: third });
});

test('a key behind revoked ones lives as long as the first one was to, whatever an overlap has left of that', async () => {
  const { key } = await insertKey(pool, { accountId: 1, name: 'endless', ...secret() });
  const second = await made(key.keyId);
  await revokeKey(pool, 1, second);
  const third = await made(key.keyId);
  const ends = new Map((await listKeys(pool, 1)).map(({ keyId, expiresAtMs }) => [keyId, expiresAtMs]));
  expect([ends.get(key.keyId) === null, ends.get(third)]).toEqual([false, null]);
});

test('the last usable of the keys that replace it is named', async () => {
  const first = await create('service');
  const second = await made(first);
  const third = await made(second);
  expect(await rotate(first)).toEqual({ replacedBy: third });
  await revokeKey(pool, 1, third);
  expect(await rotate(first)).toEqual({ replacedBy: second });
  await pool.query("update gateway_keys set expires_at = now() - interval '1 second' where id = $1", [second]);
  const fourth = await made(first, 0);
  expect(await stateOf(first, second, third, fourth)).toEqual([
    ['service', first, second, false],
    ['service', first, third, true],
    ['service', first, fourth, false],
    ['service', first, null, true],
  ]);
});

test('an unknown key is none', async () => {
  expect(await rotate(999_999)).toBe('unknown');
});
