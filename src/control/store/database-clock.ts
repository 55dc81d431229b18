/** The database's clock, one for all nodes: what deletes or expires goes by it. */
import type pg from 'pg';

/** Milliseconds since 1970 at this moment, even within a transaction. */
export type ReadTime = (client: pg.ClientBase | pg.Pool) => Promise<number>;

export const readDatabaseTime: ReadTime = async (client) => {
  const { rows } = await client.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database did not say what time it is');
  return Math.floor(row.ms);
};
