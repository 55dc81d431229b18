/** Catalogs of a gateway whose price feed is off, for tests that are about something else. */
import {
  createPriceCatalogs,
  type PriceCatalogs,
  type PriceCatalogsOptions,
} from '../../src/control/prices/declared/price-catalogs.ts';

const NO_EGRESS = { httpProxy: null, httpsProxy: null, noProxy: null };

/** `setting` as in `TOLLGATE_PRICE_FEED`. */
export function testCatalogs(setting = 'off', options: Partial<PriceCatalogsOptions> = {}): PriceCatalogs {
  return createPriceCatalogs({
    accountId: 1,
    feed: { setting, egress: NO_EGRESS, timeoutMs: 5_000, now: Date.now },
    ...options,
  });
}
