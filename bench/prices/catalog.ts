/** A public price catalog, whatever its file looks like: what it says a model of one of our providers costs. */
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { UsageClass } from '../../src/vocabulary/token-usage.ts';

/** USD for a million tokens or characters, a minute of sound, a picture or query. Rounded as the catalog has it. */
export interface CatalogRate {
  readonly usageClass: UsageClass;
  readonly usd: number;
  readonly overTokens?: number;
  readonly tier?: 'batch' | 'flex' | 'priority';
}

export interface CatalogEntry {
  readonly provider: ProviderName;
  readonly model: string;
  /** Empty: it is listed, and priced in nothing that we count. */
  readonly rates: readonly CatalogRate[];
}

export interface Catalog {
  readonly name: string;
  readonly entries: readonly CatalogEntry[];
}

/** Every reader's way out: a file that looks like its form and is not. */
export class UnreadableCatalog extends Error {}

export const MILLION = 1_000_000;
