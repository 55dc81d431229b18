/**
 * An answer of the database that pages ask for every few seconds and that may take it long: one question at a time, and
 * none again until the answer has rested for a while in proportion to the time that it took.
 */
import type pg from 'pg';

/** So these questions take a twentieth of one connection at most. */
const REST_FACTOR = 19;

/** Gives what `read` gave last; rejects as `read` does, and then asks anew the next time. */
export function createRestingAnswer<T>(read: (pool: pg.Pool) => Promise<T>): (pool: pg.Pool) => Promise<T> {
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
