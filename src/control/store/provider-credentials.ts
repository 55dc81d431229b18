/** The table of kept credentials. Only sealed ones come here. */
import type pg from 'pg';
import type { SealedCredential } from '../../vocabulary/channel.ts';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

export interface StoredCredential extends SealedCredential {
  readonly last4: string;
  readonly changedAt: Date;
  readonly changedBy: string;
}

export type CredentialName = Pick<SealedCredential, 'accountId' | 'provider' | 'alias'>;

/** All accounts together; a proxy holds them all in memory. */
export const MAX_CREDENTIALS = 1_000;

const COLUMNS = `account_id as "accountId", provider, alias, origin, key_name as "keyName",
  encode(wrapped_key, 'base64') as "wrappedKey", encode(sealed, 'base64') as sealed`;
const SHOWN = `${COLUMNS}, last4, changed_at as "changedAt", changed_by as "changedBy"`;

/** Of all accounts, for the proxies. */
export async function listSealed(client: pg.Pool | pg.ClientBase): Promise<readonly SealedCredential[]> {
  const { rows } = await client.query<SealedCredential>(
    `select ${COLUMNS} from provider_credentials order by account_id, provider, alias limit ${MAX_CREDENTIALS}`,
  );
  return rows;
}

export async function listCredentials(pool: pg.Pool, accountId: number): Promise<readonly StoredCredential[]> {
  const { rows } = await pool.query<StoredCredential>(
    `select ${SHOWN} from provider_credentials where account_id = $1 order by provider, alias limit ${MAX_CREDENTIALS}`,
    [accountId],
  );
  return rows;
}

function noteCredential(
  client: pg.ClientBase,
  action: string,
  { accountId, provider, alias }: CredentialName,
  before: object | null,
  after: object | null,
): Promise<void> {
  const subject = { kind: 'credential', id: `${provider} ${alias}` };
  return noteChange(client, { accountId, action, subject, before, after });
}

function toAudit({ origin, keyName, last4 }: Pick<StoredCredential, 'origin' | 'keyName' | 'last4'>): object {
  return { origin, key_name: keyName, last4 };
}

/** Returns false when there are too many. */
export function storeCredential(pool: pg.Pool, credential: Omit<StoredCredential, 'changedAt'>): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { accountId, provider, alias } = credential;
    const { rows } = await client.query<StoredCredential>(
      `select ${SHOWN} from provider_credentials where account_id = $1 and provider = $2 and alias = $3 for update`,
      [accountId, provider, alias],
    );
    const { rowCount } = await client.query(
      `insert into provider_credentials
         (account_id, provider, alias, origin, key_name, wrapped_key, sealed, last4, changed_by)
       select $1, $2, $3, $4, $5, decode($6, 'base64'), decode($7, 'base64'), $8, $9
       where $10 or (select count(*) from provider_credentials) < ${MAX_CREDENTIALS}
       on conflict (account_id, provider, alias) do update set origin = excluded.origin, key_name = excluded.key_name,
         wrapped_key = excluded.wrapped_key, sealed = excluded.sealed, last4 = excluded.last4,
         changed_at = now(), changed_by = excluded.changed_by`,
      [
        accountId,
        provider,
        alias,
        credential.origin,
        credential.keyName,
        credential.wrappedKey,
        credential.sealed,
        credential.last4,
        credential.changedBy,
        rows.length > 0,
      ],
    );
    if (rowCount !== 1) return false;
    const before = rows[0] === undefined ? null : toAudit(rows[0]);
    await noteCredential(client, 'credential.set', credential, before, toAudit(credential));
    return true;
  });
}

/** Returns false for an unknown one. */
export function deleteCredential(pool: pg.Pool, name: CredentialName): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredCredential>(
      `delete from provider_credentials where account_id = $1 and provider = $2 and alias = $3 returning ${SHOWN}`,
      [name.accountId, name.provider, name.alias],
    );
    if (rows[0] === undefined) return false;
    await noteCredential(client, 'credential.delete', name, toAudit(rows[0]), null);
    return true;
  });
}

/** Wraps all data keys anew. `rewrap` returns null for one that no key opens, which stays as it is. */
export function rewrapAll(
  pool: pg.Pool,
  accountId: number,
  rewrap: (stored: SealedCredential) => Pick<SealedCredential, 'keyName' | 'wrappedKey'> | null,
): Promise<{ readonly rewrapped: number; readonly left: number }> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<SealedCredential>(`select ${COLUMNS} from provider_credentials for update`);
    let rewrapped = 0;
    for (const stored of rows) {
      const anew = rewrap(stored);
      if (anew === null) continue;
      rewrapped += 1;
      await client.query(
        `update provider_credentials set key_name = $4, wrapped_key = decode($5, 'base64')
         where account_id = $1 and provider = $2 and alias = $3`,
        [stored.accountId, stored.provider, stored.alias, anew.keyName, anew.wrappedKey],
      );
    }
    const result = { rewrapped, left: rows.length - rewrapped };
    const subject = { kind: 'credential', id: null };
    await noteChange(client, { accountId, action: 'credential.rotate_key', subject, after: result });
    return result;
  });
}
