/**
 * The questions about gateway keys that the database answers. Every change raises the version of the key snapshot in
 * its own transaction, so that versions order the changes. The key itself never comes here, only its digest.
 */
import type pg from 'pg';
import type { KeyEntry } from '../channel.ts';
import { inTransaction } from './pool.ts';

export interface NewKey {
  readonly accountId: number;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  /** First and last characters, for display. */
  readonly prefix: string;
  readonly last4: string;
  readonly expiresAtMs: number | null;
  readonly usage: 'ask' | 'observe' | null;
  readonly bodies: 'full' | 'off' | null;
}

/** What a new key is beside its owner, name and settings. */
export type KeySecret = Pick<NewKey, 'digest' | 'prefix' | 'last4'>;

export interface StoredKey {
  readonly keyId: number;
  readonly accountId: number;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly usage: 'ask' | 'observe' | null;
  readonly bodies: 'full' | 'off' | null;
}

/** A change that is stored: the snapshot's new version, and the key as the proxies need it. */
export interface KeyStored {
  readonly version: number;
  readonly key: StoredKey;
  readonly entry: KeyEntry;
}

interface KeyRow {
  readonly id: number;
  readonly account_id: number;
  readonly name: string;
  readonly digest: string;
  readonly prefix: string;
  readonly last4: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  readonly expires_at: Date | null;
  readonly usage_policy: 'ask' | 'observe' | null;
  readonly bodies_policy: 'full' | 'off' | null;
}

const KEY_COLUMNS = `id, account_id, name, encode(digest, 'hex') as digest, prefix, last4, created_at, last_used_at,
  revoked_at, expires_at, usage_policy, bodies_policy`;

export function insertKey(pool: pg.Pool, key: NewKey): Promise<KeyStored> {
  return inTransaction(pool, async (client) => {
    const version = await raiseVersion(client);
    const { rows } = await client.query<KeyRow>(
      `insert into gateway_keys (account_id, name, digest, prefix, last4, expires_at, usage_policy, bodies_policy)
       values ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8)
       returning ${KEY_COLUMNS}`,
      [key.accountId, key.name, key.digest, key.prefix, key.last4, toDate(key.expiresAtMs), key.usage, key.bodies],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('an inserted key was not returned');
    return { version, key: toStoredKey(row), entry: toEntry(row) };
  });
}

/**
 * A new key with the name, settings and length of life of an old one, which ends after the overlap: at once when that is
 * 0, and never later than it would have by itself. Both in one change, so that no proxy ever knows neither.
 */
export function rotateKey(
  pool: pg.Pool,
  accountId: number,
  keyId: number,
  secret: KeySecret,
  overlapSeconds: number,
): Promise<KeyStored | 'unknown' | 'revoked'> {
  return inTransaction(pool, async (client) => {
    // Also a lock: two rotations of a key happen one after the other.
    const version = await raiseVersion(client);
    const { rows } = await client.query<KeyRow>(
      `with old as (
         update gateway_keys set
           revoked_at = case when $3::int4 = 0 then now() end,
           expires_at = case when $3 = 0 then expires_at else least(expires_at, now() + make_interval(secs => $3::int4)) end
         where account_id = $1 and id = $2 and revoked_at is null
         returning *
       )
       insert into gateway_keys (account_id, name, digest, prefix, last4, expires_at, usage_policy, bodies_policy)
       select old.account_id, old.name, decode($4, 'hex'), $5, $6, now() + (before.expires_at - before.created_at),
         old.usage_policy, old.bodies_policy
       from old join gateway_keys before on before.id = old.id
       returning ${KEY_COLUMNS}`,
      [accountId, keyId, overlapSeconds, secret.digest, secret.prefix, secret.last4],
    );
    const [row] = rows;
    if (row !== undefined) return { version, key: toStoredKey(row), entry: toEntry(row) };
    const known = await client.query('select 1 from gateway_keys where account_id = $1 and id = $2', [
      accountId,
      keyId,
    ]);
    return known.rows.length === 0 ? 'unknown' : 'revoked';
  });
}

/** Null when the account has no such key. Revoking again keeps the first time. */
export function revokeKey(pool: pg.Pool, accountId: number, keyId: number): Promise<KeyStored | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseVersion(client);
    const { rows } = await client.query<KeyRow>(
      `update gateway_keys set revoked_at = coalesce(revoked_at, now())
       where account_id = $1 and id = $2
       returning ${KEY_COLUMNS}`,
      [accountId, keyId],
    );
    const [row] = rows;
    return row === undefined ? null : { version, key: toStoredKey(row), entry: toEntry(row) };
  });
}

export interface UnusableKey extends Pick<NewKey, 'accountId' | 'name' | 'digest' | 'prefix' | 'last4'> {
  /** By the clock that its calls are dated with. */
  readonly createdAtMs: number;
}

/** The key with this digest; when there is none, one that is revoked from the beginning. */
export async function ensureUnusableKey(client: pg.ClientBase, key: UnusableKey): Promise<StoredKey> {
  const found = await readKeyByDigest(client, key.accountId, key.digest);
  if (found !== null) return found;
  await raiseVersion(client);
  const { rows } = await client.query<KeyRow>(
    `insert into gateway_keys (account_id, name, digest, prefix, last4, created_at, revoked_at)
     values ($1, $2, decode($3, 'hex'), $4, $5, $6, $6)
     returning ${KEY_COLUMNS}`,
    [key.accountId, key.name, key.digest, key.prefix, key.last4, new Date(key.createdAtMs)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an inserted key was not returned');
  return toStoredKey(row);
}

export async function readKeyByDigest(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  digest: string,
): Promise<StoredKey | null> {
  const { rows } = await client.query<KeyRow>(
    `select ${KEY_COLUMNS} from gateway_keys where account_id = $1 and digest = decode($2, 'hex')`,
    [accountId, digest],
  );
  const [row] = rows;
  return row === undefined ? null : toStoredKey(row);
}

/** For a key that no call shows any more. */
export async function deleteKey(client: pg.ClientBase, accountId: number, keyId: number): Promise<void> {
  await raiseVersion(client);
  await client.query('delete from gateway_keys where account_id = $1 and id = $2', [accountId, keyId]);
}

/** All keys of an account, revoked ones too, the oldest first. */
export async function listKeys(pool: pg.Pool, accountId: number): Promise<readonly StoredKey[]> {
  const { rows } = await pool.query<KeyRow>(
    `select ${KEY_COLUMNS} from gateway_keys where account_id = $1 order by id`,
    [accountId],
  );
  return rows.map(toStoredKey);
}

/** All keys of all accounts with the version they belong to, as one moment. */
export async function readKeySnapshot(
  pool: pg.Pool,
): Promise<{ readonly version: number; readonly keys: readonly KeyEntry[] }> {
  const { rows } = await pool.query<{ version: number; keys: readonly KeyRow[] | null }>(
    `select version, (select json_agg(k) from (select ${KEY_COLUMNS} from gateway_keys order by id) k) as keys
     from key_snapshot`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table key_snapshot is empty');
  return { version: row.version, keys: (row.keys ?? []).map(toEntry) };
}

/** Remembers the latest use. Not a change of the snapshot. */
export async function touchKeys(client: pg.ClientBase | pg.Pool, uses: ReadonlyMap<number, number>): Promise<void> {
  await client.query(
    `update gateway_keys k set last_used_at = to_timestamp(u.used_at_ms / 1000.0)
     from unnest($1::int4[], $2::int8[]) as u (id, used_at_ms)
     where k.id = u.id and (k.last_used_at is null or k.last_used_at < to_timestamp(u.used_at_ms / 1000.0))`,
    [[...uses.keys()], [...uses.values()]],
  );
}

/** Locks the only row until the transaction ends: changes of keys happen one after another. */
async function raiseVersion(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    'update key_snapshot set version = version + 1 returning version',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table key_snapshot is empty');
  return row.version;
}

function toDate(timeMs: number | null): Date | null {
  return timeMs === null ? null : new Date(timeMs);
}

function toEntry(row: KeyRow): KeyEntry {
  return {
    digest: row.digest,
    keyId: row.id,
    accountId: row.account_id,
    revoked: row.revoked_at !== null,
    // Inside json_agg a time is text.
    expiresAtMs: row.expires_at === null ? null : new Date(row.expires_at).getTime(),
    usage: row.usage_policy,
    bodies: row.bodies_policy,
  };
}

function toStoredKey(row: KeyRow): StoredKey {
  return {
    keyId: row.id,
    accountId: row.account_id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    createdAtMs: row.created_at.getTime(),
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    usage: row.usage_policy,
    bodies: row.bodies_policy,
  };
}
