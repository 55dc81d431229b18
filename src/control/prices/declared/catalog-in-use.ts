/** Finds the catalog that prices calls: the database's active one, or the bundled one where that is unusable. */
import type pg from 'pg';
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS, type CatalogData } from '../../../pricing/catalog.ts';
import { parseCatalog } from '../../../pricing/parse-catalog.ts';

export interface CatalogInUse {
  readonly data: CatalogData;
  readonly problem: string | null;
}

export type ExportedCatalog = readonly { readonly id: string; readonly models: readonly object[] }[];

/** In the published form, with the providers that the gateway knows. */
export async function exportCatalog(client: pg.Pool): Promise<ExportedCatalog> {
  const { data } = await readCatalogInUse(client);
  return CATALOG_PROVIDER_IDS.flatMap((id) => {
    const models = data.findProvider(id)?.models;
    return models === undefined ? [] : [{ id, models: models.map(({ id, match, prices }) => ({ id, match, prices })) }];
  });
}

export interface CatalogFacts {
  readonly origin: 'bundled' | 'file' | 'feed';
  readonly name: string;
  readonly checked_on: string;
  readonly models: number;
  /** Null for the bundled one. */
  readonly sha256: string | null;
}

/** The SQL columns of `CatalogFacts`. */
export const CATALOG_FACTS = "name, origin, encode(sha256, 'hex') as sha256, checked_on::text, models";

export async function readActiveFacts(client: pg.ClientBase | pg.Pool): Promise<CatalogFacts | null> {
  const { rows } = await client.query<CatalogFacts>(`select ${CATALOG_FACTS} from price_catalogs where is_active`);
  return rows[0] ?? null;
}

interface ActiveRow {
  readonly name: string;
  readonly checked_on: string;
  readonly content: string;
}

/** An import older than the bundled catalog is not used, so that an upgrade also renews prices. */
export function describeOutdated(name: string, checkedOn: string): string | null {
  if (checkedOn >= BUNDLED_CATALOG.checkedOn) return null;
  return `the imported catalog ${name} is of ${checkedOn}, older than the one that comes with this gateway (${BUNDLED_CATALOG.checkedOn}), which is used instead`;
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
    problem: `the imported catalog ${row.name} cannot be read (${parsed.problem}); the one that comes with the gateway is used instead`,
  };
}
