/** The queries about API tokens. Only digests come here. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

export interface NewApiToken {
  readonly accountId: number;
  readonly name: string;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

export interface StoredApiToken extends Omit<NewApiToken, 'digest'> {
  readonly id: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

const COLUMNS = `id, account_id as "accountId", name, last4, scopes, created_by as "createdBy",
  created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"`;

export function insertApiToken(pool: pg.Pool, token: NewApiToken): Promise<StoredApiToken> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredApiToken>(
      `insert into api_tokens (account_id, name, digest, last4, scopes, created_by, expires_at)
       values ($1, $2, decode($3, 'hex'), $4, $5, $6, $7) returning ${COLUMNS}`,
      [token.accountId, token.name, token.digest, token.last4, token.scopes, token.createdBy, token.expiresAt],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('the token was not stored');
    await noteToken(client, 'api_token.create', row);
    return row;
  });
}

function noteToken(
  client: pg.ClientBase,
  action: string,
  { lastUsedAt: _used, ...after }: StoredApiToken,
): Promise<void> {
  return noteChange(client, {
    accountId: after.accountId,
    action,
    subject: { kind: 'api_token', id: after.id },
    after,
  });
}

/** All of the account, the oldest first, at most 1,000. */
export async function listApiTokens(pool: pg.Pool, accountId: number): Promise<readonly StoredApiToken[]> {
  const { rows } = await pool.query<StoredApiToken>(
    `select ${COLUMNS} from api_tokens where account_id = $1 order by id limit 1000`,
    [accountId],
  );
  return rows;
}

/** Null for an unknown one. Revoking again changes nothing. */
export function revokeApiToken(pool: pg.Pool, accountId: number, id: number): Promise<StoredApiToken | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredApiToken>(
      `update api_tokens set revoked_at = coalesce(revoked_at, now()) where account_id = $1 and id = $2
       returning ${COLUMNS}`,
      [accountId, id],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteToken(client, 'api_token.revoke', row);
    return row;
  });
}

/** The token if it is good now, by the database's clock; notes its use, once a minute. */
export async function checkApiToken(pool: pg.Pool, digest: string): Promise<StoredApiToken | null> {
  const { rows } = await pool.query<StoredApiToken & { readonly isNoted: boolean }>(
    `select ${COLUMNS}, last_used_at is not null and last_used_at > now() - interval '1 minute' as "isNoted"
     from api_tokens
     where digest = decode($1, 'hex') and revoked_at is null and (expires_at is null or expires_at > now())`,
    [digest],
  );
  const [row] = rows;
  if (row === undefined) return null;
  if (!row.isNoted) await pool.query('update api_tokens set last_used_at = now() where id = $1', [row.id]);
  return row;
}
