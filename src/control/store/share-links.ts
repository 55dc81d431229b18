/** The queries about share links. Only digests of their tokens come here. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

/** Of an account, valid at a time. */
export const MAX_SHARE_LINKS = 500;

export const SHARED_PAGES = ['run', 'logs', 'runs', 'costs'] as const;
export type SharedPage = (typeof SHARED_PAGES)[number];

export interface NewShareLink {
  readonly accountId: number;
  readonly name: string;
  readonly page: SharedPage;
  /** A query of the API: the run, or the filters and times of the view. */
  readonly parameters: string;
  readonly hasBodies: boolean;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly last4: string;
  readonly createdBy: string;
  readonly expiresAt: Date;
}

export interface StoredShareLink extends Omit<NewShareLink, 'digest'> {
  readonly id: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

const COLUMNS = `id, account_id as "accountId", name, page, parameters, has_bodies as "hasBodies", last4,
  created_by as "createdBy", created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt",
  revoked_at as "revokedAt"`;
const IS_VALID = 'revoked_at is null and expires_at > now()';

/** What a view shows may name a person, whom an erasure must reach: the audit log has only which page it is. */
function noteLink(client: pg.ClientBase, action: string, link: StoredShareLink): Promise<void> {
  const { accountId, id, page, hasBodies, expiresAt, revokedAt } = link;
  const after = { page, bodies: hasBodies, expires_at: expiresAt, revoked_at: revokedAt };
  return noteChange(client, { accountId, action, subject: { kind: 'share_link', id }, after });
}

/** Null when there are as many as there may be. */
export function insertShareLink(pool: pg.Pool, given: NewShareLink): Promise<StoredShareLink | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredShareLink>(
      `insert into share_links (account_id, name, page, parameters, has_bodies, digest, last4, created_by, expires_at)
       select $1, $2, $3, $4, $5, decode($6, 'hex'), $7, $8, $9
       where (select count(*) from share_links where account_id = $1 and ${IS_VALID}) < ${MAX_SHARE_LINKS}
       returning ${COLUMNS}`,
      [
        given.accountId,
        given.name,
        given.page,
        given.parameters,
        given.hasBodies,
        given.digest,
        given.last4,
        given.createdBy,
        given.expiresAt,
      ],
    );
    const [row] = rows;
    if (row !== undefined) await noteLink(client, 'share_link.create', row);
    return row ?? null;
  });
}

/** Of the account, the newest first, at most 1,000. */
export async function listShareLinks(pool: pg.Pool, accountId: number): Promise<readonly StoredShareLink[]> {
  const { rows } = await pool.query<StoredShareLink>(
    `select ${COLUMNS} from share_links where account_id = $1 order by id desc limit 1000`,
    [accountId],
  );
  return rows;
}

/** Null for an unknown one. Revoking again changes nothing. */
export function revokeShareLink(pool: pg.Pool, accountId: number, id: number): Promise<StoredShareLink | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredShareLink>(
      `update share_links set revoked_at = coalesce(revoked_at, now()) where account_id = $1 and id = $2
       returning ${COLUMNS}`,
      [accountId, id],
    );
    const [row] = rows;
    if (row !== undefined) await noteLink(client, 'share_link.revoke', row);
    return row ?? null;
  });
}

/** The link of a token if it is good now, by the database's clock; notes that it was opened. */
export function openShareLink(pool: pg.Pool, digest: string): Promise<StoredShareLink | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredShareLink>(
      `update share_links set last_used_at = now() where digest = decode($1, 'hex') and ${IS_VALID} returning ${COLUMNS}`,
      [digest],
    );
    const [row] = rows;
    if (row !== undefined) await noteLink(client, 'share_link.open', row);
    return row ?? null;
  });
}

/** Null for one that is good no more. */
export async function readValidShareLink(pool: pg.Pool, digest: string): Promise<StoredShareLink | null> {
  const { rows } = await pool.query<StoredShareLink>(
    `select ${COLUMNS} from share_links where digest = decode($1, 'hex') and ${IS_VALID}`,
    [digest],
  );
  return rows[0] ?? null;
}
