/** Whether the database answers, and soon: who asks for the state of a node must not wait for one that hangs. */
import { checkDatabase } from '../runs/database-facts.ts';
import type { AdminDeps } from './admin-deps.ts';

export const DATABASE_ANSWER_LIMIT_MS = 2_000;

/** The question's own limit begins when it has a connection, and even that can take long; this one counts from now. */
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

export async function isDatabaseUp(deps: Pick<AdminDeps, 'database'>): Promise<boolean> {
  try {
    const pool = deps.database();
    if (pool === null) return false;
    await withinLimit(checkDatabase(pool, DATABASE_ANSWER_LIMIT_MS));
    return true;
  } catch {
    // The answer to the question.
    return false;
  }
}
