/** Prices that stay as they are and ask no database. */

import type { CurrentPriceBook } from '../src/prices/current-price-book.ts';
import type { PriceCall } from '../src/pricing/billable-call.ts';
import { createPriceBook } from '../src/pricing/price-book.ts';

export function fixedPrices(priceCall?: PriceCall): CurrentPriceBook {
  const real = createPriceBook();
  const book = priceCall === undefined ? real : { ...real, priceCall };
  return { book: () => book, version: () => null, problem: () => null, refresh: () => Promise.resolve(false) };
}
