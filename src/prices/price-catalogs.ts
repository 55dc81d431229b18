/**
 * All that can be done about catalogues, for the API and for the daily look at the feed: try, import, reset, look. It
 * keeps no state; the database has it.
 */
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

/** Who asks, and whether doubts are overruled. */
export type Asked = Pick<ImportOptions, 'actor' | 'acceptsChanges'>;

export interface PriceCatalogs {
  /** As set: `off`, `on` or an address. */
  readonly feedSetting: string;
  /** As an import, without its effect. */
  readonly test: (pool: pg.Pool, file: CatalogFile, acceptsChanges: boolean) => Promise<ImportOutcome>;
  readonly import: (pool: pg.Pool, file: CatalogFile, asked: Asked) => Promise<ImportOutcome>;
  /** The one in use, as a file that can be imported. */
  readonly export: (pool: pg.Pool) => Promise<ExportedCatalog>;
  /** False when the bundled one is in use already. */
  readonly reset: (pool: pg.Pool, actor: string) => Promise<boolean>;
  /**
   * `isForced`: also when its content was looked at before. `off`: the setting says so; `busy`: somebody looks right now.
   */
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
