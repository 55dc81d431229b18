/** The queries about read tokens. Only digests come here. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

export interface NewReadToken {
  readonly accountId: number;
  /** Null: all calls of the account. */
  readonly keyId: number | null;
  readonly name: string;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly last4: string;
  readonly hasTexts: boolean;
  readonly expiresAt: Date | null;
}

export interface StoredReadToken extends Omit<NewReadToken, 'digest'> {
  readonly id: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

const COLUMNS = `id, account_id as "accountId", key_id as "keyId", name, last4, has_texts as "hasTexts",
  created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"`;

/** Null when the account has no such key. */
export function insertReadToken(pool: pg.Pool, token: NewReadToken): Promise<StoredReadToken | null> {
  return inTransaction(pool, async (client) => noteToken(client, 'read_token.create', await insert(client, token)));
}

async function noteToken(
  client: pg.ClientBase,
  action: string,
  token: StoredReadToken | null,
): Promise<StoredReadToken | null> {
  if (token === null) return null;
  const { accountId, id } = token;
  await noteChange(client, { accountId, action, subject: { kind: 'read_token', id }, after: token });
  return token;
}

async function insert(client: pg.ClientBase, token: NewReadToken): Promise<StoredReadToken | null> {
  const { rows } = await client.query<StoredReadToken>(
    `insert into read_tokens (account_id, key_id, name, digest, last4, has_texts, expires_at)
     select $1, $2, $3, decode($4, 'hex'), $5, $6, $7
     where $2::int4 is null or exists (select from gateway_keys where id = $2 and account_id = $1)
     returning ${COLUMNS}`,
    [token.accountId, token.keyId, token.name, token.digest, token.last4, token.hasTexts, token.expiresAt],
  );
  return rows[0] ?? null;
}

/** All of the account, the oldest first, at most 1,000. */
export async function listReadTokens(pool: pg.Pool, accountId: number): Promise<readonly StoredReadToken[]> {
  const { rows } = await pool.query<StoredReadToken>(
    `select ${COLUMNS} from read_tokens where account_id = $1 order by id limit 1000`,
    [accountId],
  );
  return rows;
}

/** Null for an unknown one. Revoking again changes nothing. */
export function revokeReadToken(pool: pg.Pool, accountId: number, id: number): Promise<StoredReadToken | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredReadToken>(
      `update read_tokens set revoked_at = coalesce(revoked_at, now()) where account_id = $1 and id = $2
       returning ${COLUMNS}`,
      [accountId, id],
    );
    return noteToken(client, 'read_token.revoke', rows[0] ?? null);
  });
}

/** The token if it is good now, by the database's clock; notes its use, once a minute. */
export async function checkReadToken(pool: pg.Pool, digest: string): Promise<StoredReadToken | null> {
  const { rows } = await pool.query<StoredReadToken & { readonly isNoted: boolean }>(
    `select ${COLUMNS}, last_used_at is not null and last_used_at > now() - interval '1 minute' as "isNoted"
     from read_tokens
     where digest = decode($1, 'hex') and revoked_at is null and (expires_at is null or expires_at > now())`,
    [digest],
  );
  const [row] = rows;
  if (row === undefined) return null;
  if (!row.isNoted) await pool.query('update read_tokens set last_used_at = now() where id = $1', [row.id]);
  return row;
}
