/**
 * The usage of keys for their list. A database that is busy does not hold the list up: it comes without the usage then.
 */
import type pg from 'pg';
import { type KeyUsage, readKeyUsage } from '../runs/key-usage.ts';
import type { AdminDeps } from './admin-deps.ts';
import { isDatabaseDown } from './api-error.ts';
import { createRestingAnswer } from './resting-answer.ts';

/** The list does not wait longer. */
const LIMIT_MS = 2_000;

type Usage = ReadonlyMap<number, KeyUsage> | null;

/** The answer is null when the database does not give one in time. */
export function createKeyUsageCache(
  deps: Pick<AdminDeps, 'accountId' | 'log' | 'nowMs'>,
): (pool: pg.Pool) => Promise<Usage> {
  return createRestingAnswer(async (pool): Promise<Usage> => {
    try {
      return await readKeyUsage(pool, deps.accountId, deps.nowMs(), LIMIT_MS);
    } catch (error) {
      if (!isDatabaseDown(error)) deps.log.debug({ err: error }, 'the usage of keys could not be read in time');
      return null;
    }
  });
}
