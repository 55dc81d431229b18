/** The price books in force, one for each account, reloaded when the database's price version has moved. */
import pg from 'pg';
import type { PriceCallOf } from '../../../pricing/billable-call.ts';
import { createCatalog } from '../../../pricing/catalog.ts';
import { NO_OPERATOR_PRICES, type OperatorPrices } from '../../../pricing/operator-prices.ts';
import { createPriceBook, type PriceBook, type PriceBookLayers } from '../../../pricing/price-book.ts';
import { withConnection } from '../../store/pool.ts';
import { readCatalogInUse } from './catalog-in-use.ts';
import { listDeclaringAccounts } from './declaration-store.ts';
import { readOperatorPrices } from './operator-declarations.ts';

const READ_PRICES_VERSION = 'select version from price_book_version';

type Layers = Required<PriceBookLayers>;

interface AccountPrices {
  readonly layers: Layers;
  readonly book: PriceBook;
}

export interface CurrentPriceBook {
  /** The account's; the bundled one until the first load. */
  readonly book: (accountId: number) => PriceBook;
  readonly layers: (accountId: number) => Layers;
  /** Of those accounts that declare anything. */
  readonly operators: () => ReadonlyMap<number, OperatorPrices>;
  readonly priceCall: PriceCallOf;
  /** The database's version at the last load; null before it. */
  readonly version: () => number | null;
  /** A sentence on why the bundled catalog replaces the active one; null when it does not. */
  readonly problem: () => string | null;
  /** True when a book has changed. Rejects when the database does not answer. */
  readonly refresh: (client: pg.ClientBase | pg.Pool) => Promise<boolean>;
}

export function createCurrentPriceBook(): CurrentPriceBook {
  /** Of accounts that have declared nothing. */
  let listed = pricesOf({ catalog: createCatalog(), operator: NO_OPERATOR_PRICES });
  let declared: ReadonlyMap<number, AccountPrices> = new Map();
  let version: number | null = null;
  let problem: string | null = null;

  async function read(client: pg.ClientBase): Promise<boolean> {
    const versionBefore = version;
    const { rows } = await client.query<{ version: number }>(READ_PRICES_VERSION);
    const found = rows[0]?.version ?? null;
    if (found === version) return false;
    // A change between these queries raises the version again, so the next refresh reads it.
    const inUse = await readCatalogInUse(client);
    const catalog = createCatalog(inUse.data);
    const loaded = new Map<number, AccountPrices>();
    for (const accountId of await listDeclaringAccounts(client))
      loaded.set(accountId, pricesOf({ catalog, operator: await readOperatorPrices(client, accountId) }));
    // A concurrent refresh has loaded newer books.
    if (version !== versionBefore && version !== null && (found ?? 0) < version) return false;
    listed = pricesOf({ catalog, operator: NO_OPERATOR_PRICES });
    declared = loaded;
    problem = inUse.problem;
    version = found;
    return true;
  }

  const of = (accountId: number): AccountPrices => declared.get(accountId) ?? listed;
  return {
    book: (accountId) => of(accountId).book,
    layers: (accountId) => of(accountId).layers,
    operators: () => new Map([...declared].map(([accountId, { layers }]) => [accountId, layers.operator])),
    priceCall: (call, accountId) => of(accountId).book.priceCall(call),
    version: () => version,
    problem: () => problem,
    async refresh(client) {
      if (!(client instanceof pg.Pool)) return read(client);
      return withConnection(client, read);
    },
  };
}

function pricesOf(layers: Layers): AccountPrices {
  return { layers, book: createPriceBook(layers) };
}
