/**
 * The time by the database's clock, which is the same for all nodes. What deletes or expires goes by it: the clock of
 * one machine may be wrong.
 */
import type pg from 'pg';

/** In milliseconds since the epoch; of this moment, also within a transaction. */
export type ReadTime = (client: pg.ClientBase | pg.Pool) => Promise<number>;

export const readDatabaseTime: ReadTime = async (client) => {
  const { rows } = await client.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database did not say what time it is');
  return Math.floor(row.ms);
};
