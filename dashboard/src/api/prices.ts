/** The price book as the admin API shows it: what is declared, what has no price, where a rate comes from, what changed. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { PriceChangeBody } from '../../../src/control/admin/prices/prices-changes-resource.ts';
import type { PreviewBody } from '../../../src/control/admin/prices/prices-preview-resource.ts';
import type {
  PriceRowBody,
  PriceRowsBody,
  PriceRuleBody,
} from '../../../src/control/admin/prices/prices-rows-resource.ts';
import type {
  MappingRecord,
  MultiplierRecord,
  OverrideRecord,
} from '../../../src/control/admin/prices/prices-schemas.ts';
import type { PriceStatus } from '../../../src/control/admin/prices/prices-status-resource.ts';
import type { UnpricedBody } from '../../../src/control/admin/prices/prices-unpriced-resource.ts';
import type { QuoteBody } from '../../../src/control/admin/prices/quote-resource.ts';
import type { UsageClass } from '../../../src/vocabulary/token-usage.ts';
import { getJson, sendJson } from './client.ts';

export type Override = OverrideRecord;
export type Mapping = MappingRecord;
export type Multiplier = MultiplierRecord;
export type Provider = Override['provider'];
export type ServiceTier = Override['service_tier'];
export type Rates = Readonly<Override['rates']>;

/** Which calls a declaration is for, and when. */
export type Scope = Omit<Multiplier, 'id' | 'created_at' | 'factor'>;

type New<T> = Omit<T, 'id' | 'created_at'>;

export type DeclarationKind = 'override' | 'mapping' | 'multiplier';

/** A declaration that is not saved yet. */
export type NewDeclaration =
  | ({ readonly kind: 'override' } & New<Override>)
  | ({ readonly kind: 'mapping' } & New<Mapping>)
  | ({ readonly kind: 'multiplier' } & New<Multiplier>);

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

/** Declarations are few: they come in one piece. */
export const overridesQuery = queryOptions({
  queryKey: ['prices', 'overrides'],
  queryFn: async ({ signal }) => (await getJson(PATHS.override, {}, signal)).data,
});

export const mappingsQuery = queryOptions({
  queryKey: ['prices', 'mappings'],
  queryFn: async ({ signal }) => (await getJson(PATHS.mapping, {}, signal)).data,
});

export const multipliersQuery = queryOptions({
  queryKey: ['prices', 'multipliers'],
  queryFn: async ({ signal }) => (await getJson(PATHS.multiplier, {}, signal)).data,
});

export function saveDeclaration({ kind, ...body }: NewDeclaration): Promise<unknown> {
  return sendJson('post', PATHS[kind], {}, body);
}

export function removeDeclaration(kind: DeclarationKind, id: number): Promise<unknown> {
  return sendJson('delete', `${PATHS[kind]}/{id}` as const, { id });
}

export interface PriceChange {
  readonly add: NewDeclaration | null;
  readonly remove: { readonly kind: DeclarationKind; readonly id: number } | null;
}

export type Preview = PreviewBody;
export type PreviewModel = Preview['models'][number];
export type PreviewExample = Preview['examples'][number];

/** Sums before and after of some calls; those without a total are counted apart. */
export type CostDifference = Omit<PreviewModel, 'provider' | 'model'>;

export function previewChange(change: PriceChange): Promise<Preview> {
  return sendJson('post', '/prices/preview', {}, change);
}

export type RecordedChange = PriceChangeBody;

const PAGE_CHANGES = 50;

export const changesQuery = infiniteQueryOptions({
  queryKey: ['prices', 'changes'],
  queryFn: ({ pageParam, signal }) => getJson('/prices/changes', { limit: PAGE_CHANGES, cursor: pageParam }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

export type UnpricedModel = UnpricedBody;

interface TimeWindow {
  readonly from: string;
  readonly to: string;
}

export function unpricedQuery(window: TimeWindow, waitMs?: number) {
  return queryOptions({
    queryKey: ['prices', 'unpriced', window.from, window.to, waitMs],
    queryFn: ({ signal }) => getJson('/prices/unpriced', { ...window, wait_ms: waitMs }, signal),
  });
}

export type PriceRow = PriceRowBody;
export type PriceRule = PriceRuleBody;
export type PriceRows = PriceRowsBody;

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
    queryFn: ({ signal }) => getJson('/prices/rows', { provider, model, provider_alias, at }, signal),
    // Another model's rates must never stand under this one's name.
    placeholderData: () => undefined,
  });
}

export type Quote = QuoteBody;

export interface QuoteQuestion {
  readonly provider: string;
  readonly model: string;
  readonly provider_alias: string | null;
  readonly requested_at: string | null;
  readonly classes: Readonly<Partial<Record<UsageClass, number>>>;
}

export function quoteCost({ provider_alias, requested_at, ...question }: QuoteQuestion): Promise<Quote> {
  return sendJson(
    'post',
    '/prices/quote',
    {},
    {
      ...question,
      ...(provider_alias === null ? {} : { provider_alias }),
      ...(requested_at === null ? {} : { requested_at }),
    },
  );
}

export type PricesStatus = PriceStatus;

export const pricesStatusQuery = queryOptions({
  queryKey: ['prices', 'status'],
  queryFn: ({ signal }) => getJson('/prices/status', {}, signal),
});
