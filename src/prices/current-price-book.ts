/**
 * The price book in force: what comes with the gateway, the active catalogue and the operator's declarations, as the
 * database had them when they were last read. It reads anew when the version there has moved on, and only then.
 */
import pg from 'pg';
import { createCatalog } from '../pricing/catalog.ts';
import { NO_OPERATOR_PRICES } from '../pricing/operator-prices.ts';
import { createPriceBook, type PriceBook, type PriceBookLayers } from '../pricing/price-book.ts';
import { withConnection } from '../store/pool.ts';
import { readCatalogInUse } from './catalog-in-use.ts';
import { readOperatorPrices } from './read-operator-prices.ts';

/** One statement, for those who ask within another's message. */
const READ_PRICES_VERSION = 'select version from price_book_version';

export interface CurrentPriceBook {
  /** The one in force; before the first reading the one that comes with the gateway. */
  readonly book: () => PriceBook;
  /** What it is made of, for a book with one declaration more or less. */
  readonly layers: () => Required<PriceBookLayers>;
  /** Of what the database declares, as it was read last; null before the first reading. */
  readonly version: () => number | null;
  /**
   * Why the active catalogue is not used, and the bundled one is in its place, in a sentence; null when all is well.
   */
  readonly problem: () => string | null;
  /** Reads anew what has changed. True when there is another book now. Rejects when the database does not answer. */
  readonly refresh: (client: pg.ClientBase | pg.Pool) => Promise<boolean>;
}

export function createCurrentPriceBook(accountId: number): CurrentPriceBook {
  let layers: Required<PriceBookLayers> = { catalog: createCatalog(), operator: NO_OPERATOR_PRICES };
  let book = createPriceBook(layers);
  let version: number | null = null;
  let problem: string | null = null;

  async function read(client: pg.ClientBase): Promise<boolean> {
    const versionBefore = version;
    const { rows } = await client.query<{ version: number }>(READ_PRICES_VERSION);
    const found = rows[0]?.version ?? null;
    if (found === version) return false;
    // A change that is committed between these questions raises the version again, so it is read the next time.
    const catalog = await readCatalogInUse(client);
    const operator = await readOperatorPrices(client, accountId);
    // Someone else who reads has been faster, and has newer ones.
    if (version !== versionBefore && version !== null && (found ?? 0) < version) return false;
    layers = { catalog: createCatalog(catalog.data), operator };
    book = createPriceBook(layers);
    problem = catalog.problem;
    version = found;
    return true;
  }

  return {
    book: () => book,
    layers: () => layers,
    version: () => version,
    problem: () => problem,
    async refresh(client) {
      if (!(client instanceof pg.Pool)) return read(client);
      return withConnection(client, read);
    },
  };
}
