/** Writes the prices in force to the file from which this node's proxies price calls, at each change. */
import { existsSync } from 'node:fs';
import { replaceFile } from '../../keys/replace-file.ts';
import { formatPublishedPrices } from '../../pricing/published-prices.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';

export interface PricePublisher {
  /** Cheap while nothing has changed. */
  readonly publish: (prices: CurrentPriceBook) => Promise<void>;
}

export function createPricePublisher(file: string): PricePublisher {
  let written: number | null = null;
  return {
    async publish(prices) {
      const version = prices.version();
      if (version === null || (version === written && existsSync(file))) return;
      // All accounts have one catalog.
      const { catalog } = prices.layers(FIRST_ACCOUNT_ID);
      await replaceFile(file, formatPublishedPrices({ catalog, operators: prices.operators() }));
      written = version;
    },
  };
}
