/** Looks whether another node has changed the prices, and says when calls are priced by others than before. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import { type Repeating, repeat } from './repeat.ts';

const PRICES_POLL_MS = 1_000;

export function repeatPrices(prices: CurrentPriceBook, pool: pg.Pool, log: Logger): Repeating {
  // What was said last: others refresh the book as well, so that it may be new without being read here.
  let seenVersion = prices.book().version;
  let seenProblem: string | null = null;
  return repeat(async () => {
    try {
      await prices.refresh(pool);
      const { version } = prices.book();
      const problem = prices.problem();
      if (version !== seenVersion) log.info({ priceVersion: version }, 'calls are priced by another price book');
      if (problem !== null && problem !== seenProblem) log.error(problem);
      seenVersion = version;
      seenProblem = problem;
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'the prices could not be read');
    }
    return PRICES_POLL_MS;
  });
}
