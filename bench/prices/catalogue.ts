/** A public price catalogue, whatever its file looks like: what it says a model of one of our providers costs. */
import type { ProviderName } from '../../src/call-record.ts';
import type { UsageClass } from '../../src/token-usage.ts';

/** USD for a million tokens or characters, a minute of sound, a picture or query. Rounded as the catalogue has it. */
export interface CatalogueRate {
  readonly unit: UsageClass;
  readonly usd: number;
  /** For prompts of more than so many tokens; absent: for short ones. */
  readonly overTokens?: number;
  readonly tier?: 'batch' | 'flex' | 'priority';
}

export interface CatalogueEntry {
  readonly provider: ProviderName;
  /** As a client of the provider writes it. */
  readonly model: string;
  /** Empty: it is listed, and priced in nothing that we count. */
  readonly rates: readonly CatalogueRate[];
}

export interface Catalogue {
  readonly name: string;
  readonly entries: readonly CatalogueEntry[];
}

/** Every reader's way out: a file that looks like its form and is not. */
export class UnreadableCatalogue extends Error {}

export const MILLION = 1_000_000;
