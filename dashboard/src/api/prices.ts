/** The price book as the admin API shows it: what is declared, what has no price, where a rate comes from, what changed. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ProviderName } from '../../../src/call-record.ts';
import type { RowTier } from '../../../src/pricing/price-row.ts';
import type { UsageClass } from '../../../src/token-usage.ts';
import { getJson, sendJson } from './client.ts';

export type Provider = ProviderName;
export type ServiceTier = RowTier;
export type Rates = Readonly<Partial<Record<UsageClass, string>>>;

/** Which calls a declaration is for, and when. */
export interface Scope {
  readonly provider: Provider;
  readonly provider_alias: string | null;
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  readonly note: string | null;
}

interface Stored {
  readonly id: number;
  readonly created_at: string;
}

export interface NewOverride extends Scope {
  readonly match: 'exact' | 'prefix';
  readonly model: string;
  readonly service_tier: ServiceTier;
  readonly over_tokens: number | null;
  readonly up_to_tokens: number | null;
  readonly rates: Rates;
}

export interface NewMapping extends Scope {
  readonly match: 'exact' | 'prefix';
  readonly model: string;
  readonly billing_model: string;
}

export interface NewMultiplier extends Scope {
  readonly factor: string;
}

export type Override = NewOverride & Stored;
export type Mapping = NewMapping & Stored;
export type Multiplier = NewMultiplier & Stored;

export type DeclarationKind = 'override' | 'mapping' | 'multiplier';

/** A declaration that is not saved yet. */
export type NewDeclaration =
  | ({ readonly kind: 'override' } & NewOverride)
  | ({ readonly kind: 'mapping' } & NewMapping)
  | ({ readonly kind: 'multiplier' } & NewMultiplier);

/** A saved one. */
export type Declaration =
  | ({ readonly kind: 'override' } & Override)
  | ({ readonly kind: 'mapping' } & Mapping)
  | ({ readonly kind: 'multiplier' } & Multiplier);

const PATHS = {
  override: '/prices/overrides',
  mapping: '/prices/mappings',
  multiplier: '/prices/multipliers',
} as const;

interface ListOf<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Declarations are few; more than one page is read to its end. */
async function readAll<T>(path: string, signal: AbortSignal): Promise<readonly T[]> {
  const rows: T[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: ListOf<T> = await getJson<ListOf<T>>(path, { limit: 500, cursor }, signal);
    rows.push(...page.data);
    cursor = page.next_cursor;
  }
  return rows;
}

export const overridesQuery = queryOptions({
  queryKey: ['prices', 'overrides'],
  queryFn: ({ signal }) => readAll<Override>(PATHS.override, signal),
});

export const mappingsQuery = queryOptions({
  queryKey: ['prices', 'mappings'],
  queryFn: ({ signal }) => readAll<Mapping>(PATHS.mapping, signal),
});

export const multipliersQuery = queryOptions({
  queryKey: ['prices', 'multipliers'],
  queryFn: ({ signal }) => readAll<Multiplier>(PATHS.multiplier, signal),
});

export function saveDeclaration({ kind, ...body }: NewDeclaration): Promise<unknown> {
  return sendJson('POST', PATHS[kind], body);
}

export function removeDeclaration(kind: DeclarationKind, id: number): Promise<unknown> {
  return sendJson('DELETE', `${PATHS[kind]}/${id}`);
}

export interface PriceChange {
  readonly add: NewDeclaration | null;
  readonly remove: { readonly kind: DeclarationKind; readonly id: number } | null;
}

/** Sums before and after of some calls; those without a total are counted apart. */
export interface CostDifference {
  readonly calls: number;
  readonly changed: number;
  readonly old_cost: string;
  readonly new_cost: string;
  readonly old_unpriced: number;
  readonly new_unpriced: number;
}

export interface PreviewModel extends CostDifference {
  readonly provider: string;
  readonly model: string | null;
}

export interface PreviewExample {
  readonly id: string;
  readonly requested_at: string;
  readonly model: string | null;
  readonly old_cost: string;
  readonly new_cost: string;
  readonly old_status: string;
  readonly new_status: string;
}

export interface Preview extends CostDifference {
  readonly models: readonly PreviewModel[];
  readonly examples: readonly PreviewExample[];
  readonly price_version: string;
  readonly warnings: readonly string[];
}

export function previewChange(change: PriceChange): Promise<Preview> {
  return sendJson('POST', '/prices/preview', change);
}

export interface RecordedChange {
  readonly id: number;
  readonly changed_at: string;
  readonly actor: string;
  readonly subject: 'override' | 'mapping' | 'multiplier' | 'catalog';
  readonly action: 'added' | 'replaced' | 'removed' | 'activated';
  readonly summary: string;
  readonly before: unknown;
  readonly after: unknown;
}

const PAGE_CHANGES = 50;

export const changesQuery = infiniteQueryOptions({
  queryKey: ['prices', 'changes'],
  queryFn: ({ pageParam, signal }) =>
    getJson<ListOf<RecordedChange>>('/prices/changes', { limit: PAGE_CHANGES, cursor: pageParam }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

export interface UnpricedModel {
  readonly provider: Provider;
  readonly model: string | null;
  readonly endpoint: string;
  readonly reason: string;
  readonly terms: string | null;
  readonly calls: number;
  readonly missing: readonly UsageClass[];
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly other_quantities: Readonly<Record<string, number>>;
  readonly known_cost: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly example_id: string;
  /** A command, or a sentence where none helps. */
  readonly suggestion: string;
}

interface TimeWindow {
  readonly from: string;
  readonly to: string;
}

export function unpricedQuery(window: TimeWindow) {
  return queryOptions({
    queryKey: ['prices', 'unpriced', window.from, window.to],
    queryFn: ({ signal }) => getJson<ListOf<UnpricedModel>>('/prices/unpriced', { ...window }, signal),
  });
}

export interface PriceRow {
  readonly key: string;
  readonly layer: string;
  readonly unit: string;
  readonly service_tier: string;
  readonly rate: string;
  readonly per: number;
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  readonly calendar: {
    readonly utc_offset_minutes: number;
    readonly weekdays: readonly number[];
    readonly from: string;
    readonly to: string;
  } | null;
  readonly prompt_tier: { readonly over_tokens: number | null; readonly up_to_tokens: number | null } | null;
  readonly source: string;
  readonly checked_on: string | null;
  readonly in_force: boolean;
}

export interface PriceRule {
  readonly key: string;
  readonly kind: 'multiplier' | 'derivation' | 'alias' | 'mapping' | 'discount';
  readonly text: string;
  readonly source: string;
  readonly checked_on: string | null;
  readonly in_force: boolean;
}

export interface PriceRows {
  readonly billing_model: string;
  readonly rows: readonly PriceRow[];
  readonly rules: readonly PriceRule[];
}

export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  readonly provider_alias: string | null;
  /** Null: now. */
  readonly at: string | null;
}

export function priceRowsQuery({ provider, model, provider_alias, at }: PricedModel) {
  return queryOptions({
    queryKey: ['prices', 'rows', provider, model, provider_alias, at],
    queryFn: ({ signal }) => getJson<PriceRows>('/prices/rows', { provider, model, provider_alias, at }, signal),
    // Another model's rates must never stand under this one's name.
    placeholderData: () => undefined,
  });
}

export interface QuoteLine {
  readonly class: string;
  readonly quantity: number;
  readonly unit: string;
  readonly rate: string;
  readonly per: number;
  readonly multiplier: string;
  readonly amount: string;
  readonly layer: string;
  readonly row: string;
}

export interface Quote {
  readonly total_cost: string | null;
  readonly known_cost: string;
  readonly cost_status: string;
  readonly cost_lines: readonly QuoteLine[];
  readonly price_version: string;
  readonly billing_model: string | null;
  readonly unpriced: readonly { readonly class: string; readonly quantity: number; readonly reason: string }[];
  readonly notes: readonly string[];
}

export interface QuoteQuestion {
  readonly provider: string;
  readonly model: string;
  readonly provider_alias: string | null;
  readonly requested_at: string | null;
  readonly classes: Readonly<Partial<Record<UsageClass, number>>>;
}

export function quoteCost({ provider_alias, requested_at, ...question }: QuoteQuestion): Promise<Quote> {
  return sendJson('POST', '/prices/quote', {
    ...question,
    ...(provider_alias === null ? {} : { provider_alias }),
    ...(requested_at === null ? {} : { requested_at }),
  });
}

interface Catalog {
  readonly origin: 'bundled' | 'file' | 'feed';
  readonly name: string;
  readonly checked_on: string;
  readonly age_days: number;
  readonly models: number;
}

export interface PricesStatus {
  readonly price_version: string;
  readonly catalog: Catalog;
  readonly declarations: { readonly overrides: number; readonly mappings: number; readonly multipliers: number };
  readonly unpriced: { readonly calls: number; readonly models: number };
  readonly feed: {
    /** `off`, `on` or an address. */
    readonly setting: string;
    readonly checked_at: string | null;
    readonly result: 'unchanged' | 'activated' | 'refused' | 'failed' | null;
    readonly detail: string | null;
  };
  readonly warnings: readonly string[];
}

export const pricesStatusQuery = queryOptions({
  queryKey: ['prices', 'status'],
  queryFn: ({ signal }) => getJson<PricesStatus>('/prices/status', {}, signal),
});
