/** Whether the database answers soon; a database that hangs must not hold up a question about the node's state. */
import type pg from 'pg';
import { checkDatabase } from '../log/describe-database.ts';

export const DATABASE_ANSWER_LIMIT_MS = 2_000;

/** The query's own limit starts with its connection, which can take long; this one starts now. */
export async function withinLimit<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const fail = () => reject(new Error('the database did not answer in time'));
  const timer = setTimeout(fail, DATABASE_ANSWER_LIMIT_MS);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

export async function isDatabaseUp(deps: { readonly database: () => pg.Pool | null }): Promise<boolean> {
  try {
    const pool = deps.database();
    if (pool === null) return false;
    await withinLimit(checkDatabase(pool, DATABASE_ANSWER_LIMIT_MS));
    return true;
  } catch {
    return false;
  }
}
