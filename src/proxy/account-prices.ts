/**
 * The price books of a proxy, from the file that control writes. They take more than 20 MB, so nothing is loaded until the
 * first call that needs a price.
 */
import { readFile, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PriceBook } from '../pricing/price-book.ts';
import type { PublishedPrices } from '../pricing/published-prices.ts';

/** Control looks as often for changes, so that one is in force here after twice as long. */
const RELOAD_MS = 1_000;

export interface AccountPrices {
  /** Null until they are loaded. */
  readonly bookOf: (accountId: number) => PriceBook | null;
  /** Null when they are loaded; else waits until they are. Never rejects. */
  readonly load: () => Promise<void> | null;
  readonly close: () => void;
}

interface Loaded {
  readonly mark: string;
  readonly list: PriceBook;
  readonly own: ReadonlyMap<number, PriceBook>;
}

/** Tells one state of the file from another; empty while there is none. */
async function readMark(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return '';
  }
}

/** Loaded when they are first needed: a proxy without budgets has no use for them. */
async function importPricing() {
  const [{ createPriceBook }, { createCatalog }, { parsePublishedPrices }] = await Promise.all([
    import('../pricing/price-book.ts'),
    import('../pricing/catalog.ts'),
    import('../pricing/published-prices.ts'),
  ]);
  return { createPriceBook, createCatalog, parsePublishedPrices };
}

export function openAccountPrices(file: string, log: Pick<Logger, 'error'>): AccountPrices {
  let loaded: Loaded | null = null;
  let loading: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function read(): Promise<void> {
    const { createPriceBook, createCatalog, parsePublishedPrices } = await importPricing();
    const mark = await readMark(file);
    if (mark === loaded?.mark) return;
    // Before control has written them, list prices hold, as in control before its first look at the database.
    let prices: PublishedPrices | null = { catalog: createCatalog(), operators: new Map() };
    if (mark !== '') prices = parsePublishedPrices(await readFile(file, 'utf8'));
    if (prices === null) {
      log.error({ file }, 'the prices on file cannot be read; those before stay in force');
      if (loaded !== null) {
        loaded = { ...loaded, mark };
        return;
      }
      prices = { catalog: createCatalog(), operators: new Map() };
    }
    const { catalog, operators } = prices;
    const own = new Map<number, PriceBook>();
    for (const [accountId, operator] of operators) {
      own.set(accountId, createPriceBook({ catalog, operator }));
      // A book takes milliseconds, in which no call goes on.
      await setImmediate();
    }
    loaded = { mark, list: createPriceBook({ catalog }), own };
  }

  async function refresh(): Promise<void> {
    try {
      await read();
    } catch (error) {
      log.error({ err: error, file }, 'the prices on file could not be read; they are tried again');
    }
  }

  function repeat(): void {
    timer = setTimeout(() => void refresh().finally(repeat), RELOAD_MS);
    timer.unref();
  }

  return {
    bookOf: (accountId) => loaded?.own.get(accountId) ?? loaded?.list ?? null,
    load() {
      if (loaded !== null) return null;
      loading ??= refresh().then(() => {
        loading = null;
        if (timer === null) repeat();
      });
      return loading;
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
