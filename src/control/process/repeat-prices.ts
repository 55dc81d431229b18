/** Looks whether another node has changed the prices, brings them to the proxies, and logs when calls are priced differently. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import type { PricePublisher } from './publish-prices.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const PRICES_POLL_MS = 1_000;

export function repeatPrices(
  prices: CurrentPriceBook,
  pool: pg.Pool,
  publisher: PricePublisher,
  log: Logger,
): Repeating {
  // Others refresh the book too, so its version may change unseen.
  let seenVersion = prices.book(FIRST_ACCOUNT_ID).version;
  let seenProblem: string | null = null;
  return repeatOnDatabase({
    pauseMs: PRICES_POLL_MS,
    failure: 'the prices could not be read and published',
    log,
    run: async () => {
      await prices.refresh(pool);
      await publisher.publish(prices);
      const { version } = prices.book(FIRST_ACCOUNT_ID);
      const problem = prices.problem();
      if (version !== seenVersion) log.info({ priceVersion: version }, 'calls are priced by another price book');
      if (problem !== null && problem !== seenProblem) log.error(problem);
      seenVersion = version;
      seenProblem = problem;
    },
  });
}
