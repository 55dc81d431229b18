/** Prices that stay as they are and ask no database. */

import type { CurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import { createCatalog } from '../../src/pricing/catalog.ts';
import { NO_OPERATOR_PRICES } from '../../src/pricing/operator-prices.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';

export function fixedPrices(priceCall?: PriceCall): CurrentPriceBook {
  const layers = { catalog: createCatalog(), operator: NO_OPERATOR_PRICES };
  const real = createPriceBook(layers);
  const book = priceCall === undefined ? real : { ...real, priceCall };
  return {
    book: () => book,
    operators: () => new Map(),
    layers: () => layers,
    priceCall: (call) => book.priceCall(call),
    version: () => null,
    problem: () => null,
    refresh: () => Promise.resolve(false),
  };
}
