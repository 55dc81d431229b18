/** Operators' price declarations in the form of the API and audit trail: ISO times, decimal text. */

import type { MatchKind } from '../../../pricing/operator-prices.ts';
import type { RowTier } from '../../../pricing/price-row.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import type { UsageClass } from '../../../vocabulary/token-usage.ts';

export const DECLARATION_KINDS = ['override', 'mapping', 'multiplier'] as const;
export type DeclarationKind = (typeof DECLARATION_KINDS)[number];

interface Scope {
  readonly provider: ProviderName;
  /** Only calls with this `X-Gateway-Provider-Alias`; null: all calls of the provider. */
  readonly provider_alias: string | null;
  /** Inclusive; null: no start. */
  readonly valid_from: string | null;
  /** Exclusive; null: no end. */
  readonly valid_to: string | null;
  readonly note: string | null;
}

export interface Override extends Scope {
  readonly match: MatchKind;
  readonly model: string;
  readonly service_tier: RowTier;
  readonly over_tokens: number | null;
  readonly up_to_tokens: number | null;
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
}

export interface Mapping extends Scope {
  readonly match: MatchKind;
  /** Empty for every id under the alias. */
  readonly model: string;
  readonly billing_model: string;
}

export interface Multiplier extends Scope {
  readonly factor: string;
}

export type Declaration =
  | ({ readonly kind: 'override' } & Override)
  | ({ readonly kind: 'mapping' } & Mapping)
  | ({ readonly kind: 'multiplier' } & Multiplier);

export type DeclarationOf<K extends DeclarationKind> = Extract<Declaration, { readonly kind: K }>;

/** Its number changes with its content, since cost lines name it. */
export type Stored<T> = T & { readonly id: number; readonly created_at: string };
export type StoredDeclaration = Stored<Declaration>;

export type StoredFields = Omit<StoredDeclaration, 'kind'>;

export function withoutKind({ kind: _, ...fields }: StoredDeclaration): StoredFields {
  return fields;
}

/** `2026-12-01`, or `2026-12-01 14:00`, in UTC. */
function describeTime(time: string): string {
  return time
    .replace('T', ' ')
    .replace('Z', '')
    .replace(/\.000$/, '')
    .replace(/:00$/, '')
    .replace(/ 00:00$/, '');
}

function describeScope({ provider_alias, valid_from, valid_to }: Scope): string {
  return [
    ...(provider_alias === null ? [] : [`under the alias ${provider_alias}`]),
    ...(valid_from === null ? [] : [`from ${describeTime(valid_from)}`]),
    ...(valid_to === null ? [] : [`until ${describeTime(valid_to)}`]),
  ]
    .map((text) => `, ${text}`)
    .join('');
}

function describeModel({ match, model }: { readonly match: MatchKind; readonly model: string }): string {
  return match === 'exact' ? model : `${model}*`;
}

function describeOverride(override: Override): string {
  const rates = Object.entries(override.rates).map(([unit, rate]) => `${unit} $${rate}`);
  const bounds = [
    ...(override.service_tier === 'standard' ? [] : [`tier ${override.service_tier}`]),
    ...(override.over_tokens === null ? [] : [`prompts over ${override.over_tokens} tokens`]),
    ...(override.up_to_tokens === null ? [] : [`prompts up to ${override.up_to_tokens} tokens`]),
  ].map((text) => `, ${text}`);
  const scope = describeScope(override);
  return `${override.provider} ${describeModel(override)}: ${rates.join(', ')}${bounds.join('')}${scope}`;
}

export function describeDeclaration(declaration: Declaration): string {
  switch (declaration.kind) {
    case 'override':
      return describeOverride(declaration);
    case 'mapping': {
      const from = declaration.model === '' ? 'every model' : describeModel(declaration);
      return `${declaration.provider} ${from} is billed as ${declaration.billing_model}${describeScope(declaration)}`;
    }
    case 'multiplier':
      return `${declaration.provider}: list prices × ${declaration.factor}${describeScope(declaration)}`;
  }
}
