/** How fresh the prices are, and what they do not cover: the facts behind `prices status`. Reads only. */
import type pg from 'pg';
import { PROVIDER_NAMES } from '../call-record.ts';
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS } from '../pricing/catalog.ts';
import { OVERLAY_RATE_CARDS } from '../pricing/overlay-rate-cards.ts';
import { createRows } from '../pricing/overlay-row.ts';
import { ALIAS_RULES, DERIVED_RULES, MULTIPLIER_RULES } from '../pricing/overlay-rules.ts';
import type { PriceBook } from '../pricing/price-book.ts';
import { describeOutdated } from './catalog-in-use.ts';
import { listUnpriced } from './list-unpriced.ts';

/** Older prices are worth a warning. */
export const STALE_DAYS = 30;
export const UNPRICED_DAYS = 30;
const DAY_MS = 86_400_000;

export interface CatalogFacts {
  readonly origin: 'bundled' | 'file' | 'feed';
  readonly name: string;
  readonly checkedOn: string;
  readonly models: number;
  /** Null of the bundled one, whose name says which it is. */
  readonly sha256: string | null;
}

export interface UnpricedFacts {
  readonly calls: number;
  readonly models: number;
  readonly since: Date;
}

export function readBundledFacts(): CatalogFacts {
  const models = PROVIDER_NAMES.map(
    (provider) => BUNDLED_CATALOG.findProvider(CATALOG_PROVIDER_IDS[provider])?.models.length ?? 0,
  ).reduce((sum, count) => sum + count, 0);
  return {
    origin: 'bundled',
    name: BUNDLED_CATALOG.name,
    checkedOn: BUNDLED_CATALOG.checkedOn,
    models,
    sha256: null,
  };
}

/** Prices and rules, and the day on which the latest of them was checked. */
export function readOverlayFacts(): { readonly rows: number; readonly checkedOn: string } {
  const rules = [...MULTIPLIER_RULES, ...DERIVED_RULES, ...ALIAS_RULES];
  const checkedOn =
    [...OVERLAY_RATE_CARDS, ...rules]
      .map((entry) => entry.checkedOn)
      .sort()
      .at(-1) ?? '';
  return { rows: OVERLAY_RATE_CARDS.flatMap(createRows).length + rules.length, checkedOn };
}

/** The imported one that is meant to be used. */
export async function readActiveFacts(client: pg.Pool): Promise<CatalogFacts | null> {
  const { rows } = await client.query<CatalogFacts>(
    `select origin, name, checked_on::text as "checkedOn", models, encode(sha256, 'hex') as sha256
     from price_catalogs where is_active`,
  );
  return rows[0] ?? null;
}

export interface DeclarationCounts {
  readonly overrides: number;
  readonly mappings: number;
  readonly multipliers: number;
}

export async function countDeclarations(client: pg.Pool, accountId: number): Promise<DeclarationCounts> {
  const { rows } = await client.query<DeclarationCounts>(
    `select (select count(*)::int from price_overrides where account_id = $1) as overrides,
       (select count(*)::int from price_mappings where account_id = $1) as mappings,
       (select count(*)::int from price_multipliers where account_id = $1) as multipliers`,
    [accountId],
  );
  return rows[0] ?? { overrides: 0, mappings: 0, multipliers: 0 };
}

/** The same calls as those of the list of models without a price; one that uses several such models counts for each. */
export async function readUnpricedFacts(
  client: pg.Pool,
  accountId: number,
  book: PriceBook,
  nowMs: number,
): Promise<UnpricedFacts> {
  const [from, to] = [new Date(nowMs - UNPRICED_DAYS * DAY_MS), new Date(nowMs)];
  const found = await listUnpriced(client, accountId, { from, to, book });
  return {
    calls: found.reduce((sum, { calls }) => sum + calls, 0),
    models: new Set(found.map(({ provider, model }) => `${provider}\n${model}`)).size,
    since: from,
  };
}

export function countAgeDays(checkedOn: string, nowMs: number): number {
  const checkedMs = Date.parse(`${checkedOn}T00:00:00Z`);
  return Math.max(0, Math.floor((nowMs - checkedMs) / DAY_MS));
}

/** Which of the two is in use, and why, where that is not what was asked for. */
export function chooseCatalog(
  active: CatalogFacts | null,
  bookProblem: string | null,
): { readonly inUse: CatalogFacts; readonly problem: string | null } {
  if (active === null) return { inUse: readBundledFacts(), problem: null };
  const problem = describeOutdated(active.name, active.checkedOn) ?? bookProblem;
  return problem === null ? { inUse: active, problem } : { inUse: readBundledFacts(), problem };
}
