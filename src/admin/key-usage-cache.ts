/**
 * The usage of keys for their list, which pages ask for every few seconds: one question to the database at a time, and
 * none again until the answer has rested for a while in proportion to the time that it took.
 */
import type pg from 'pg';
import { type KeyUsage, readKeyUsage } from '../runs/key-usage.ts';
import type { AdminDeps } from './admin-deps.ts';
import { isDatabaseDown } from './api-error.ts';

/** The list does not wait longer. */
const LIMIT_MS = 2_000;
/** So these questions take a twentieth of one connection at most. */
const REST_FACTOR = 19;

type Usage = ReadonlyMap<number, KeyUsage> | null;

/** The answer is null when the database does not give one in time. */
export function createKeyUsageCache(deps: Pick<AdminDeps, 'accountId' | 'log'>): (pool: pg.Pool) => Promise<Usage> {
  let asking: Promise<Usage> | null = null;
  let latest: Usage = null;
  let restsUntilMs = 0;

  async function ask(pool: pg.Pool): Promise<Usage> {
    const startedMs = performance.now();
    try {
      latest = await readKeyUsage(pool, deps.accountId, Date.now(), LIMIT_MS);
    } catch (error) {
      latest = null;
      if (!isDatabaseDown(error)) deps.log.debug({ err: error }, 'the usage of keys could not be read in time');
    }
    const endedMs = performance.now();
    restsUntilMs = endedMs + (endedMs - startedMs) * REST_FACTOR;
    asking = null;
    return latest;
  }

  return (pool) => {
    if (asking === null && performance.now() < restsUntilMs) return Promise.resolve(latest);
    asking ??= ask(pool);
    return asking;
  };
}
