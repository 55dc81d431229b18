/** The table of accounts. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

/** Every database has it, and what is done for all accounts together is noted in it. */
export const FIRST_ACCOUNT_ID = 1;
/** Many jobs and lists are made for each one. */
export const MAX_ACCOUNTS = 1_000;

export interface StoredAccount {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
}

const COLUMNS = 'id, name, created_at as "createdAt"';

export async function listAccounts(pool: pg.Pool): Promise<readonly StoredAccount[]> {
  const { rows } = await pool.query<StoredAccount>(`select ${COLUMNS} from accounts order by id limit ${MAX_ACCOUNTS}`);
  return rows;
}

export async function readAccount(pool: pg.Pool, id: number): Promise<StoredAccount | null> {
  const { rows } = await pool.query<StoredAccount>(`select ${COLUMNS} from accounts where id = $1`, [id]);
  return rows[0] ?? null;
}

/** Null when there are as many as there may be. */
export function insertAccount(pool: pg.Pool, name: string): Promise<StoredAccount | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredAccount>(
      `insert into accounts (name) select $1 where (select count(*) from accounts) < ${MAX_ACCOUNTS} returning ${COLUMNS}`,
      [name],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const subject = { kind: 'account', id: row.id };
    await noteChange(client, { accountId: row.id, action: 'account.create', subject, after: { name } });
    return row;
  });
}

export function renameAccount(pool: pg.Pool, id: number, name: string): Promise<StoredAccount | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredAccount & { readonly before: string }>(
      `with former as (select name from accounts where id = $1 for update)
       update accounts set name = $2 where id = $1 returning ${COLUMNS}, (select name from former) as before`,
      [id, name],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { before, ...account } = row;
    await noteChange(client, {
      accountId: id,
      action: 'account.change',
      subject: { kind: 'account', id },
      before: { name: before },
      after: { name },
    });
    return account;
  });
}
