/** The price book in force, reloaded when the database's price version has moved. */
import pg from 'pg';
import { createCatalog } from '../../../pricing/catalog.ts';
import { NO_OPERATOR_PRICES } from '../../../pricing/operator-prices.ts';
import { createPriceBook, type PriceBook, type PriceBookLayers } from '../../../pricing/price-book.ts';
import { withConnection } from '../../store/pool.ts';
import { readCatalogInUse } from './catalog-in-use.ts';
import { readOperatorPrices } from './operator-declarations.ts';

const READ_PRICES_VERSION = 'select version from price_book_version';

export interface CurrentPriceBook {
  /** The bundled book until the first load. */
  readonly book: () => PriceBook;
  readonly layers: () => Required<PriceBookLayers>;
  /** The database's version at the last load; null before it. */
  readonly version: () => number | null;
  /** A sentence on why the bundled catalog replaces the active one; null when it does not. */
  readonly problem: () => string | null;
  /** True when the book has changed. Rejects when the database does not answer. */
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
    // A change between these queries raises the version again, so the next refresh reads it.
    const catalog = await readCatalogInUse(client);
    const operator = await readOperatorPrices(client, accountId);
    // A concurrent refresh has loaded a newer book.
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
