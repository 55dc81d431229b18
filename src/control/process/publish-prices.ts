/** Writes the prices in force to the file from which this node's proxies price calls, at each change. */
import { existsSync } from 'node:fs';
import type pg from 'pg';
import { replaceFile } from '../../keys/replace-file.ts';
import type { OperatorPrices } from '../../pricing/operator-prices.ts';
import { formatPublishedPrices } from '../../pricing/published-prices.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { listDeclaringAccounts } from '../prices/declared/declaration-store.ts';
import { readOperatorPrices } from '../prices/declared/operator-declarations.ts';
import { withConnection } from '../store/pool.ts';

export interface PricePublisher {
  /** Cheap while nothing has changed. */
  readonly publish: (prices: CurrentPriceBook) => Promise<void>;
}

export function createPricePublisher(pool: pg.Pool, file: string): PricePublisher {
  let written: number | null = null;

  function readOperators(): Promise<Map<number, OperatorPrices>> {
    return withConnection(pool, async (client) => {
      const operators = new Map<number, OperatorPrices>();
      for (const accountId of await listDeclaringAccounts(client))
        operators.set(accountId, await readOperatorPrices(client, accountId));
      return operators;
    });
  }

  return {
    async publish(prices) {
      const version = prices.version();
      if (version === null || (version === written && existsSync(file))) return;
      // What is read may be newer than the version: the next poll finds that version and writes again.
      const operators = await readOperators();
      await replaceFile(file, formatPublishedPrices({ catalog: prices.layers().catalog, operators }));
      written = version;
    },
  };
}
