/** Where each kind of declaration stands in the database, and how a row of it reads. One entry a kind; no queries here. */
import type { ProviderName } from '../call-record.ts';
import type { MatchKind } from '../pricing/operator-prices.ts';
import type { RowTier } from '../pricing/price-row.ts';
import type { UsageClass } from '../token-usage.ts';
import type { Declaration, DeclarationKind, Mapping, Multiplier, Override, Stored } from './declaration.ts';

interface ScopeRow {
  readonly id: number;
  readonly provider: ProviderName;
  readonly provider_alias: string | null;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
  readonly note: string | null;
  readonly created_at: Date;
}

interface OverrideRow extends ScopeRow {
  readonly match: MatchKind;
  readonly model: string;
  readonly service_tier: RowTier;
  readonly over_tokens: number | null;
  readonly up_to_tokens: number | null;
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
}

interface MappingRow extends ScopeRow {
  readonly match: MatchKind;
  readonly model: string;
  readonly billing_model: string;
}

interface MultiplierRow extends ScopeRow {
  readonly factor: string;
}

export interface DeclarationTable<T, Row> {
  readonly kind: DeclarationKind;
  readonly table: string;
  /** What is written, besides the owner; `note` and the bounds of time included. */
  readonly columns: readonly (string & keyof T)[];
  /** Two declarations that agree in these cannot both stand. Ids of models are the same in any case. */
  readonly key: readonly (string & keyof T)[];
  /** SQL that yields a Row. */
  readonly select: string;
  readonly read: (row: Row) => Stored<T>;
  readonly toDeclaration: (declared: T) => Declaration;
}

const SCOPE = 'id, provider, provider_alias, valid_from, valid_to, note, created_at';

function readScope(row: ScopeRow) {
  return {
    id: row.id,
    provider: row.provider,
    provider_alias: row.provider_alias,
    valid_from: row.valid_from?.toISOString() ?? null,
    valid_to: row.valid_to?.toISOString() ?? null,
    note: row.note,
    created_at: row.created_at.toISOString(),
  };
}

export const OVERRIDES: DeclarationTable<Override, OverrideRow> = {
  kind: 'override',
  table: 'price_overrides',
  columns: [
    ...(['provider', 'provider_alias', 'match', 'model', 'service_tier', 'over_tokens', 'up_to_tokens'] as const),
    ...(['rates', 'valid_from', 'valid_to', 'note'] as const),
  ],
  key: [
    ...(['provider', 'provider_alias', 'match', 'model'] as const),
    ...(['service_tier', 'over_tokens', 'up_to_tokens', 'valid_from'] as const),
  ],
  select: `${SCOPE}, match, model, service_tier, over_tokens, up_to_tokens, rates`,
  read: (row) => ({
    ...readScope(row),
    match: row.match,
    model: row.model,
    service_tier: row.service_tier,
    over_tokens: row.over_tokens,
    up_to_tokens: row.up_to_tokens,
    rates: row.rates,
  }),
  toDeclaration: (declared) => ({ kind: 'override', ...declared }),
};

export const MAPPINGS: DeclarationTable<Mapping, MappingRow> = {
  kind: 'mapping',
  table: 'price_mappings',
  columns: ['provider', 'provider_alias', 'match', 'model', 'billing_model', 'valid_from', 'valid_to', 'note'],
  key: ['provider', 'provider_alias', 'match', 'model', 'valid_from'],
  select: `${SCOPE}, match, model, billing_model`,
  read: (row) => ({ ...readScope(row), match: row.match, model: row.model, billing_model: row.billing_model }),
  toDeclaration: (declared) => ({ kind: 'mapping', ...declared }),
};

export const MULTIPLIERS: DeclarationTable<Multiplier, MultiplierRow> = {
  kind: 'multiplier',
  table: 'price_multipliers',
  columns: ['provider', 'provider_alias', 'factor', 'valid_from', 'valid_to', 'note'],
  key: ['provider', 'provider_alias', 'valid_from'],
  select: `${SCOPE}, trim_scale(factor)::text as factor`,
  read: (row) => ({ ...readScope(row), factor: row.factor }),
  toDeclaration: (declared) => ({ kind: 'multiplier', ...declared }),
};
