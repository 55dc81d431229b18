/** Has the calls without a cost priced again when the list prices were updated. Looks only when the prices have changed. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import { queueUpdate, readOwnVersion } from '../repricing/queue-update.ts';
import { type Repeating, repeat } from './repeat.ts';

const POLL_MS = 1_000;
/** The job for an update before is under way. */
const BUSY_MS = 10_000;

export function repeatPriceUpdates(pool: pg.Pool, accountId: number, prices: CurrentPriceBook, log: Logger): Repeating {
  let seenVersion: number | null = null;
  let ownVersion: string | null = null;
  return repeat(async () => {
    const version = prices.version();
    if (version === seenVersion) return POLL_MS;
    try {
      ownVersion ??= readOwnVersion();
      const bookVersion = prices.book().version;
      const update = await queueUpdate(pool, accountId, ownVersion, bookVersion);
      if (update.type === 'busy') return BUSY_MS;
      seenVersion = version;
      if (update.type === 'queued')
        log.info(
          { job: update.jobId, priceVersion: bookVersion },
          'the list prices are new; unpriced calls are priced again',
        );
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'unpriced calls could not be queued for new prices');
    }
    return POLL_MS;
  });
}
