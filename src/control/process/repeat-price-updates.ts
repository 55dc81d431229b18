/** Requests pricing calls without a cost again after an update of the list prices. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { queueUpdate, readOwnVersion } from '../prices/reprice/queue-update.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const POLL_MS = 1_000;
/** The job of an earlier update is under way. */
const BUSY_MS = 10_000;

export function repeatPriceUpdates(pool: pg.Pool, prices: CurrentPriceBook, log: Logger): Repeating {
  let seenVersion: number | null = null;
  let ownVersion: string | null = null;
  return repeatOnDatabase({
    pauseMs: POLL_MS,
    failure: 'unpriced calls could not be queued for new prices',
    log,
    run: async () => {
      const version = prices.version();
      if (version === seenVersion) return POLL_MS;
      ownVersion ??= readOwnVersion();
      const priceVersion = prices.book(FIRST_ACCOUNT_ID).version;
      const update = await queueUpdate(pool, ownVersion, priceVersion);
      if (update.type === 'busy') return BUSY_MS;
      seenVersion = version;
      if (update.type === 'queued')
        log.info({ jobs: update.jobIds, priceVersion }, 'the list prices are new; unpriced calls are priced again');
      return POLL_MS;
    },
  });
}
