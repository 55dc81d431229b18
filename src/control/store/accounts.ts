/** The table of accounts. */
import type pg from 'pg';

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
export async function insertAccount(pool: pg.Pool, name: string): Promise<StoredAccount | null> {
  const { rows } = await pool.query<StoredAccount>(
    `insert into accounts (name) select $1 where (select count(*) from accounts) < ${MAX_ACCOUNTS} returning ${COLUMNS}`,
    [name],
  );
  return rows[0] ?? null;
}

export async function renameAccount(pool: pg.Pool, id: number, name: string): Promise<StoredAccount | null> {
  const { rows } = await pool.query<StoredAccount>(`update accounts set name = $2 where id = $1 returning ${COLUMNS}`, [
    id,
    name,
  ]);
  return rows[0] ?? null;
}
