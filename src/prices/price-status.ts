/** How fresh the prices are, and what they do not cover: the facts behind `prices status`. Reads only. */
import type pg from 'pg';
import { PROVIDER_NAMES } from '../call-record.ts';
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS } from '../pricing/catalog.ts';
import { OVERLAY_RATE_CARDS } from '../pricing/overlay-rate-cards.ts';
import { createRows } from '../pricing/overlay-row.ts';
import { ALIAS_RULES, DERIVED_RULES, MULTIPLIER_RULES } from '../pricing/overlay-rules.ts';
import { describeOutdated } from './catalog-in-use.ts';

/** Older prices are worth a warning. */
export const STALE_DAYS = 30;
export const UNPRICED_DAYS = 30;
const DAY_MS = 86_400_000;
/** Counting stops there: more is no other message. */
const MAX_COUNTED = 100_000;

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

/** Calls of the last days whose usage is known and whose price is not, or not whole. */
export async function countUnpricedCalls(client: pg.Pool, accountId: number, nowMs: number): Promise<UnpricedFacts> {
  const since = new Date(nowMs - UNPRICED_DAYS * DAY_MS);
  const { rows } = await client.query<{ calls: number; models: number }>(
    `select count(*)::int as calls, count(distinct (provider, coalesce(model, model_requested, '')))::int as models
     from (
       select provider, model, model_requested from llm_requests
       where account_id = $1 and requested_at >= $2 and cost_status in ('unpriced', 'partial')
         and (cost_status = 'unpriced' or usage_source in ('provider', 'request'))
       limit ${MAX_COUNTED}
     ) as calls`,
    [accountId, since],
  );
  return { calls: rows[0]?.calls ?? 0, models: rows[0]?.models ?? 0, since };
}

export function countAgeDays(checkedOn: string, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - Date.parse(`${checkedOn}T00:00:00Z`)) / DAY_MS));
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
