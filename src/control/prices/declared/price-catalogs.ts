/** Catalog operations for the API and the daily feed check. The database has the state. */
import type pg from 'pg';
import { type ExportedCatalog, exportCatalog } from './catalog-in-use.ts';
import { checkFeed, type FeedOptions, type FeedState, readFeedUrl } from './check-feed.ts';
import {
  type CatalogFile,
  type ImportOptions,
  type ImportOutcome,
  importCatalog,
  resetCatalog,
  tryCatalog,
} from './import-catalog.ts';

/** The actor, and whether doubts are overruled. */
export type Asked = Pick<ImportOptions, 'actor' | 'acceptsChanges'>;

export interface PriceCatalogs {
  readonly feedSetting: string;
  /** A dry run of an import. */
  readonly test: (pool: pg.Pool, file: CatalogFile, acceptsChanges: boolean) => Promise<ImportOutcome>;
  readonly import: (pool: pg.Pool, file: CatalogFile, asked: Asked) => Promise<ImportOutcome>;
  /** The catalog in use as an importable file. */
  readonly export: (pool: pg.Pool) => Promise<ExportedCatalog>;
  /** False when the bundled one is already in use. */
  readonly reset: (pool: pg.Pool, actor: string) => Promise<boolean>;
  /** `isForced` also judges known content. `off`: disabled; `busy`: another process is checking. */
  readonly lookAtFeed: (pool: pg.Pool, asked: Asked, isForced: boolean) => Promise<FeedState | 'off' | 'busy'>;
}

export interface PriceCatalogsOptions {
  readonly accountId: number;
  readonly feed: FeedOptions;
}

export function createPriceCatalogs({ accountId, feed }: PriceCatalogsOptions): PriceCatalogs {
  return {
    feedSetting: feed.setting,
    test: tryCatalog,
    import: (pool, file, asked) => importCatalog(pool, file, { accountId, ...asked }),
    export: exportCatalog,
    reset: (pool, actor) => resetCatalog(pool, { accountId, actor, acceptsChanges: true }),
    lookAtFeed: async (pool, asked, isForced) => {
      const url = readFeedUrl(feed.setting);
      if (url === null) return 'off';
      return (await checkFeed(pool, { ...feed, url, accountId, ...asked }, isForced)) ?? 'busy';
    },
  };
}
