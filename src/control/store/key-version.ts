/** The version of the set of keys and run tokens that the proxies hold. */
import type pg from 'pg';

/** The row lock serialises changes of keys and run tokens until the transaction ends. */
export async function raiseKeyVersion(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    'update key_snapshot set version = version + 1 returning version',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table key_snapshot is empty');
  return row.version;
}
