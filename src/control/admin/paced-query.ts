/** A slow query that pages repeat every few seconds: one at a time for each account, with pauses in proportion to its duration. */
import type pg from 'pg';

/** The query takes a twentieth of a connection at most. */
const REST_FACTOR = 19;

/** Returns the last result; after a rejection the next call asks again. */
export function createPacedQuery<T>(
  read: (pool: pg.Pool, accountId: number) => Promise<T>,
): (pool: pg.Pool, accountId: number) => Promise<T> {
  const byAccount = new Map<number, (pool: pg.Pool) => Promise<T>>();
  return (pool, accountId) => {
    let ask = byAccount.get(accountId);
    if (ask === undefined) {
      ask = createPaced((asked) => read(asked, accountId));
      byAccount.set(accountId, ask);
    }
    return ask(pool);
  };
}

function createPaced<T>(read: (pool: pg.Pool) => Promise<T>): (pool: pg.Pool) => Promise<T> {
  let latest: Promise<T> | null = null;
  let restsUntilMs = Number.POSITIVE_INFINITY;

  async function ask(pool: pg.Pool): Promise<T> {
    const startedMs = performance.now();
    restsUntilMs = Number.POSITIVE_INFINITY;
    try {
      return await read(pool);
    } catch (error) {
      latest = null;
      throw error;
    } finally {
      const endedMs = performance.now();
      restsUntilMs = endedMs + (endedMs - startedMs) * REST_FACTOR;
    }
  }

  return (pool) => {
    if (latest === null || performance.now() >= restsUntilMs) latest = ask(pool);
    return latest;
  };
}
