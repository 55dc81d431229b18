/**
 * Which catalogue prices calls: the active one of the database, unless it cannot be used; then the one that comes with
 * the gateway. Reads only.
 */
import type pg from 'pg';
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS, type CatalogData } from '../pricing/catalog.ts';
import { parseCatalog } from './parse-catalog.ts';

export interface CatalogInUse {
  readonly data: CatalogData;
  /** Why the active one is not used; null when it is, or when there is none. */
  readonly problem: string | null;
}

export type ExportedCatalog = readonly { readonly id: string; readonly models: readonly object[] }[];

/** In the form that it is published in, the providers that the gateway knows. */
export async function exportCatalog(client: pg.Pool): Promise<ExportedCatalog> {
  const { data } = await readCatalogInUse(client);
  return Object.values(CATALOG_PROVIDER_IDS).flatMap((id) => {
    const models = data.findProvider(id)?.models;
    return models === undefined ? [] : [{ id, models: models.map(({ id, match, prices }) => ({ id, match, prices })) }];
  });
}

interface ActiveRow {
  readonly name: string;
  readonly checked_on: string;
  readonly content: string;
}

/**
 * An imported catalogue that is older than the bundled one is not used: a gateway is brought up to date also for its
 * prices, and an import that was forgotten would keep them old for good.
 */
export function describeOutdated(name: string, checkedOn: string): string | null {
  if (checkedOn >= BUNDLED_CATALOG.checkedOn) return null;
  return `the imported catalogue ${name} is of ${checkedOn}, older than the one that comes with this gateway (${BUNDLED_CATALOG.checkedOn}), which is used instead`;
}

export async function readCatalogInUse(client: pg.ClientBase | pg.Pool): Promise<CatalogInUse> {
  const { rows } = await client.query<ActiveRow>(
    'select name, checked_on::text, content from price_catalogs where is_active',
  );
  const [row] = rows;
  if (row === undefined) return { data: BUNDLED_CATALOG, problem: null };
  const outdated = describeOutdated(row.name, row.checked_on);
  if (outdated !== null) return { data: BUNDLED_CATALOG, problem: outdated };
  const parsed = parseCatalog(row.content, row.name, row.checked_on);
  if (parsed.isOk) return { data: parsed.data, problem: null };
  return {
    data: BUNDLED_CATALOG,
    problem: `the imported catalogue ${row.name} cannot be read (${parsed.problem}); the one that comes with the gateway is used instead`,
  };
}
