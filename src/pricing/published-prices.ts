/**
 * The prices in force as a file, from which a proxy prices calls without a database: the catalog, where it is not the
 * bundled one, and what each account declares. The overlay comes with the release.
 */
import { z } from 'zod';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { USAGE_CLASSES } from '../vocabulary/token-usage.ts';
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS, type Catalog, createCatalog } from './catalog.ts';
import { MATCH_KINDS, type OperatorPrices } from './operator-prices.ts';
import { parseCatalog } from './parse-catalog.ts';
import { ROW_TIERS } from './price-row.ts';

export interface PublishedPrices {
  readonly catalog: Catalog;
  /** Accounts without declarations are left out. */
  readonly operators: ReadonlyMap<number, OperatorPrices>;
}

const FORMAT = 1;

const scope = {
  id: z.int(),
  provider: z.enum(PROVIDER_NAMES),
  providerAlias: z.string().nullable(),
  validFromMs: z.number().nullable(),
  validToMs: z.number().nullable(),
};
const named = { match: z.enum(MATCH_KINDS), model: z.string() };

const Declared = z.object({
  accountId: z.int(),
  prices: z.array(
    z.object({
      ...scope,
      ...named,
      serviceTier: z.enum(ROW_TIERS),
      promptTier: z.object({ overTokens: z.number(), upToTokens: z.number() }).nullable(),
      rates: z.partialRecord(z.enum(USAGE_CLASSES), z.string()),
    }),
  ),
  mappings: z.array(z.object({ ...scope, ...named, billingModel: z.string() })),
  multipliers: z.array(z.object({ ...scope, factor: z.string() })),
});

const File = z.object({
  format: z.literal(FORMAT),
  /** Null for the bundled one. */
  catalog: z.object({ name: z.string(), checkedOn: z.string(), content: z.string() }).nullable(),
  accounts: z.array(Declared),
});

export function formatPublishedPrices({ catalog, operators }: PublishedPrices): string {
  const { name, checkedOn } = catalog;
  const isBundled = checkedOn === BUNDLED_CATALOG.checkedOn && catalog.data() === createCatalog().data();
  const file: z.infer<typeof File> = {
    format: FORMAT,
    catalog: isBundled ? null : { name, checkedOn, content: exportModels(catalog) },
    accounts: [...operators].map(([accountId, { prices, mappings, multipliers }]) => ({
      accountId,
      prices: prices.map((price) => ({ ...price })),
      mappings: [...mappings],
      multipliers: [...multipliers],
    })),
  };
  return JSON.stringify(file);
}

/** In the form in which catalogs are published. */
function exportModels(catalog: Catalog): string {
  const lists: unknown = JSON.parse(catalog.data());
  const models: unknown[] = Array.isArray(lists) ? lists : [];
  return JSON.stringify(CATALOG_PROVIDER_IDS.map((id, index) => ({ id, models: models[index] ?? [] })));
}

/** Null unless the text is a whole file of this release: with half the prices a budget would be passed. */
export function parsePublishedPrices(text: string): PublishedPrices | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = File.safeParse(value);
  if (!parsed.success) return null;
  const { catalog, accounts } = parsed.data;
  const operators = new Map(
    accounts.map(({ accountId, ...operator }): [number, OperatorPrices] => [accountId, operator]),
  );
  if (catalog === null) return { catalog: createCatalog(), operators };
  const read = parseCatalog(catalog.content, catalog.name, catalog.checkedOn);
  return read.isOk ? { catalog: createCatalog(read.data), operators } : null;
}
