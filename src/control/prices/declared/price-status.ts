/** The facts behind `prices status`: how fresh prices are and what they do not cover. */
import type pg from 'pg';
import { BUNDLED_CATALOG } from '../../../pricing/catalog.ts';
import { OVERLAY_RATE_CARDS } from '../../../pricing/overlay-rate-cards.ts';
import { createRows } from '../../../pricing/overlay-row.ts';
import { DERIVED_RULES, MULTIPLIER_RULES, RENAME_RULES } from '../../../pricing/overlay-rules.ts';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { PROVIDER_NAMES, PROVIDERS } from '../../../providers/registry.ts';
import { type CatalogFacts, describeOutdated } from './catalog-in-use.ts';
import { listUnpriced } from './list-unpriced.ts';

export const STALE_DAYS = 30;
export const UNPRICED_DAYS = 30;
const DAY_MS = 86_400_000;

export interface UnpricedFacts {
  readonly calls: number;
  readonly models: number;
  readonly since: string;
}

export function readBundledFacts(): CatalogFacts {
  const models = PROVIDER_NAMES.map(
    (provider) => BUNDLED_CATALOG.findProvider(PROVIDERS[provider].catalogId)?.models.length ?? 0,
  ).reduce((sum, count) => sum + count, 0);
  const { name, checkedOn } = BUNDLED_CATALOG;
  return { origin: 'bundled', name, checked_on: checkedOn, models, sha256: null };
}

/** The number of prices and rules, and the day of the latest check. */
export function readOverlayFacts(): { readonly rows: number; readonly checked_on: string } {
  const rules = [...MULTIPLIER_RULES, ...DERIVED_RULES, ...RENAME_RULES];
  const days = [...OVERLAY_RATE_CARDS, ...rules].map(({ checkedOn }) => checkedOn).sort();
  return { rows: OVERLAY_RATE_CARDS.flatMap(createRows).length + rules.length, checked_on: days.at(-1) ?? '' };
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

/** Counts as the list of unpriced models does: a call with several such models counts for each. */
export async function readUnpricedFacts(
  client: pg.Pool,
  accountId: number,
  book: PriceBook,
  nowMs: number,
): Promise<UnpricedFacts> {
  const [from, to] = [new Date(nowMs - UNPRICED_DAYS * DAY_MS), new Date(nowMs)];
  const { models, searchedTo } = await listUnpriced(client, accountId, { from, to, book });
  return {
    calls: models.reduce((sum, { calls }) => sum + calls, 0),
    models: new Set(models.map(({ provider, model }) => `${provider}\n${model}`)).size,
    since: (searchedTo ?? from).toISOString(),
  };
}

export function countAgeDays(checkedOn: string, nowMs: number): number {
  const checkedMs = Date.parse(`${checkedOn}T00:00:00Z`);
  return Math.max(0, Math.floor((nowMs - checkedMs) / DAY_MS));
}

/** Which catalog is in use, and why not the imported one. */
export function chooseCatalog(
  active: CatalogFacts | null,
  bookProblem: string | null,
): { readonly inUse: CatalogFacts; readonly problem: string | null } {
  if (active === null) return { inUse: readBundledFacts(), problem: null };
  const problem = describeOutdated(active.name, active.checked_on) ?? bookProblem;
  return problem === null ? { inUse: active, problem } : { inUse: readBundledFacts(), problem };
}
