/** The queries about gateway keys. Each change raises the snapshot's version, and is noted in the audit log. */
import type pg from 'pg';
import type { KeyEntry } from '../../vocabulary/channel.ts';
import { noteChange } from '../audit/note-change.ts';
import { listFirstKeys } from './key-rotations.ts';
import {
  COPIED_COLUMNS,
  KEY_COLUMNS,
  type KeyEdit,
  type KeyRow,
  listSet,
  type NewKey,
  type StoredKey,
  toEntry,
  toStoredKey,
} from './key-row.ts';
import { raiseKeyVersion } from './key-version.ts';
import { inTransaction } from './pool.ts';

export type KeySecret = Pick<NewKey, 'digest' | 'prefix' | 'last4'>;

/** A stored change: the snapshot's new version, and the key as the proxies need it. */
export interface KeyStored {
  readonly version: number;
  readonly key: StoredKey;
  readonly entry: KeyEntry;
}

export function insertKey(pool: pg.Pool, key: NewKey): Promise<KeyStored> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const { accountId, digest, prefix, last4, ...settings } = key;
    const set = listSet(settings);
    const { rows } = await client.query<KeyRow>(
      `insert into gateway_keys (account_id, digest, prefix, last4, ${set.map(([column]) => column).join(', ')})
       values ($1, decode($2, 'hex'), $3, $4, ${set.map((_, index) => `$${index + 5}`).join(', ')})
       returning ${KEY_COLUMNS}`,
      [accountId, digest, prefix, last4, ...set.map(([, value]) => value)],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('an inserted key was not returned');
    await noteKey(client, 'key.create', row, null, toAudit(row));
    return toStored(version, row);
  });
}

/**
 * Copies a key's name, settings and lifetime to a new key and ends the old one after the overlap, in one transaction.
 * An overlap never lengthens the old key's life. `replacedBy`: the last usable key that earlier rotations have made of it, which is
 * the one to rotate. Where none is usable the new key comes behind the last one, so that all stay one for limits and budgets.
 */
export function rotateKey(
  pool: pg.Pool,
  accountId: number,
  keyId: number,
  secret: KeySecret,
  overlapSeconds: number,
): Promise<KeyStored | 'unknown' | 'revoked' | { readonly replacedBy: number }> {
  return inTransaction(pool, async (client) => {
    // The raised version also locks: two rotations run one after the other.
    const version = await raiseKeyVersion(client);
    const key = await readKey(client, accountId, keyId);
    if (key === null) return 'unknown';
    if (key.revokedAtMs !== null) return 'revoked';
    const later = await listLaterKeys(client, accountId, keyId);
    const usable = later.findLast(({ isUsable }) => isUsable);
    if (usable !== undefined) return { replacedBy: usable.keyId };
    const { rows } = await client.query<KeyRow>(
      `with before as (
         select * from gateway_keys where account_id = $1 and id = $2
       ), made as (
         insert into gateway_keys (account_id, digest, prefix, last4, expires_at, ${COPIED_COLUMNS.join(', ')})
         select account_id, decode($4, 'hex'), $5, $6,
           -- Of the last one, whose own no overlap has cut.
           now() + (select expires_at - created_at from gateway_keys where id = $7), ${COPIED_COLUMNS.join(', ')}
         from before
         returning *
       ), ended as (
         update gateway_keys old set
           revoked_at = case when old.id = $2 and $3::int4 = 0 then now() else old.revoked_at end,
           expires_at = case when old.id <> $2 or $3 = 0 then old.expires_at
             else least(old.expires_at, now() + make_interval(secs => $3::int4)) end,
           replaced_by = case when old.id = $7 then made.id else old.replaced_by end,
           replaced_at = case when old.id = $7 then now() else old.replaced_at end
         from made where old.id in ($2, $7)
       )
       select ${KEY_COLUMNS} from made`,
      [accountId, keyId, overlapSeconds, secret.digest, secret.prefix, secret.last4, later.at(-1)?.keyId ?? keyId],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('a key that rotated another was not returned');
    const overlap = { overlap_seconds: overlapSeconds };
    await noteKey(client, 'key.rotate', row, { id: keyId, ...overlap }, toAudit(row));
    return toStored(version, row);
  });
}

interface LaterKey {
  readonly keyId: number;
  readonly isUsable: boolean;
}

/** What rotations have made of it, in their order. */
async function listLaterKeys(client: pg.ClientBase, accountId: number, keyId: number): Promise<readonly LaterKey[]> {
  const { rows } = await client.query<LaterKey>(
    `with recursive later as (
       select replaced_by as id, 1 as place from gateway_keys where account_id = $1 and id = $2
       union all
       select k.replaced_by, l.place + 1 from later l join gateway_keys k on k.account_id = $1 and k.id = l.id
     )
     select k.id as "keyId", k.revoked_at is null and coalesce(k.expires_at > now(), true) as "isUsable"
     from later l join gateway_keys k on k.account_id = $1 and k.id = l.id order by l.place`,
    [accountId, keyId],
  );
  return rows;
}

export async function isKeyKnown(client: pg.ClientBase | pg.Pool, accountId: number, keyId: number): Promise<boolean> {
  const { rows } = await client.query('select from gateway_keys where account_id = $1 and id = $2', [accountId, keyId]);
  return rows.length > 0;
}

/** Returns null for a key that is unknown or revoked. */
export function editKey(pool: pg.Pool, accountId: number, keyId: number, edit: KeyEdit): Promise<KeyStored | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const before = await readKey(client, accountId, keyId);
    const set = listSet(edit);
    const changes = set.map(([column], index) => `${column} = $${index + 3}`);
    const { rows } = await client.query<KeyRow>(
      `update gateway_keys set ${['digest = digest', ...changes].join(', ')}
       where account_id = $1 and id = $2 and revoked_at is null
       returning ${KEY_COLUMNS}`,
      [accountId, keyId, ...set.map(([, value]) => value)],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteKey(client, 'key.change', row, before === null ? null : toAudit(before), toAudit(row));
    return toStored(version, row);
  });
}

/** Returns null for an unknown key. Revoking again keeps the first time. */
export function revokeKey(pool: pg.Pool, accountId: number, keyId: number): Promise<KeyStored | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const before = await readKey(client, accountId, keyId);
    const { rows } = await client.query<KeyRow>(
      `update gateway_keys set revoked_at = coalesce(revoked_at, now())
       where account_id = $1 and id = $2
       returning ${KEY_COLUMNS}`,
      [accountId, keyId],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteKey(client, 'key.revoke', row, before === null ? null : toAudit(before), toAudit(row));
    return toStored(version, row);
  });
}

async function readKey(client: pg.ClientBase, accountId: number, keyId: number): Promise<KeyRow | null> {
  const { rows } = await client.query<KeyRow>(
    `select ${KEY_COLUMNS} from gateway_keys where account_id = $1 and id = $2`,
    [accountId, keyId],
  );
  return rows[0] ?? null;
}

/** All but the digest, and what calls change. */
function toAudit({ digest: _digest, lastUsedAtMs: _lastUsed, ...key }: KeyRow): object {
  return key;
}

function noteKey(
  client: pg.ClientBase,
  action: string,
  { accountId, keyId }: KeyRow,
  before: object | null,
  after: object,
): Promise<void> {
  return noteChange(client, { accountId, action, subject: { kind: 'key', id: keyId }, before, after });
}

export interface UnusableKey extends Pick<NewKey, 'accountId' | 'name' | 'digest' | 'prefix' | 'last4'> {
  /** By the clock that dates its calls. */
  readonly createdAtMs: number;
}

/** Returns the key with this digest; creates it, revoked from the start, when there is none. */
export async function ensureUnusableKey(client: pg.ClientBase, key: UnusableKey): Promise<StoredKey> {
  const found = await readKeyByDigest(client, key.accountId, key.digest);
  if (found !== null) return found;
  await raiseKeyVersion(client);
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

/** Call it when no call refers to the key any more. */
export async function deleteKey(client: pg.ClientBase, accountId: number, keyId: number): Promise<void> {
  await raiseKeyVersion(client);
  await client.query('delete from gateway_keys where account_id = $1 and id = $2', [accountId, keyId]);
}

/** Lists all keys of an account, the oldest first, revoked ones too. */
export async function listKeys(pool: pg.Pool, accountId: number): Promise<readonly StoredKey[]> {
  const { rows } = await pool.query<KeyRow>(
    `select ${KEY_COLUMNS} from gateway_keys where account_id = $1 order by id`,
    [accountId],
  );
  return rows.map(toStoredKey);
}

/** Notes the latest use without changing the snapshot's version. */
export async function touchKeys(client: pg.ClientBase | pg.Pool, uses: ReadonlyMap<number, number>): Promise<void> {
  await client.query(
    `update gateway_keys k set last_used_at = to_timestamp(u.used_at_ms / 1000.0)
     from unnest($1::int4[], $2::int8[]) as u (id, used_at_ms)
     where k.id = u.id and (k.last_used_at is null or k.last_used_at < to_timestamp(u.used_at_ms / 1000.0))`,
    [[...uses.keys()], [...uses.values()]],
  );
}

/** The key whose limits and budgets this one shares, itself where it was not made by a rotation; null: no such key. */
export async function findFirstKey(pool: pg.Pool, accountId: number, keyId: number): Promise<number | null> {
  const keys = await listKeys(pool, accountId);
  if (!keys.some((key) => key.keyId === keyId)) return null;
  return listFirstKeys(keys).get(keyId) ?? keyId;
}

function toStored(version: number, row: KeyRow): KeyStored {
  return { version, key: toStoredKey(row), entry: toEntry(row) };
}
