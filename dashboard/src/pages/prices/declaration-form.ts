/** The form of a declaration as texts, from a saved one or from nothing, and what it says as the API takes it. */

import { ApiError } from '../../api/client.ts';
import type { Declaration, DeclarationKind, NewDeclaration, Provider, Rates, ServiceTier } from '../../api/prices.ts';
import { START_PROVIDER } from './price-words.ts';

type UsageClass = keyof Rates;

export interface DeclarationForm {
  readonly kind: DeclarationKind;
  readonly provider: Provider;
  readonly alias: string;
  readonly match: 'exact' | 'prefix';
  readonly model: string;
  readonly billingModel: string;
  readonly factor: string;
  readonly tier: ServiceTier;
  readonly overTokens: string;
  readonly upToTokens: string;
  /** As typed; empty is no rate. */
  readonly rates: Rates;
  /** UTC, as the field for times writes it: `2026-11-28T00:00`. */
  readonly from: string;
  readonly to: string;
  readonly note: string;
}

const EMPTY: DeclarationForm = {
  kind: 'override',
  provider: START_PROVIDER,
  alias: '',
  match: 'exact',
  model: '',
  billingModel: '',
  factor: '',
  tier: 'standard',
  overTokens: '',
  upToTokens: '',
  rates: {},
  from: '',
  to: '',
  note: '',
};

export function createForm(kind: DeclarationKind, known: Partial<DeclarationForm> = {}): DeclarationForm {
  return { ...EMPTY, ...known, kind };
}

function toTimeText(iso: string | null): string {
  return iso === null
    ? ''
    : iso
        .replace(/Z$/, '')
        .replace(/\.000$/, '')
        .replace(/:00$/, '');
}

/** Null when it is empty. What is no time is sent as it is, and the API says so. */
function toInstant(text: string): string | null {
  if (text === '') return null;
  const atMs = Date.parse(`${text}Z`);
  return Number.isNaN(atMs) ? text : new Date(atMs).toISOString();
}

function toCountText(count: number | null): string {
  return count === null ? '' : String(count);
}

export function readForm(saved: Declaration): DeclarationForm {
  const { provider, provider_alias, valid_from, valid_to, note } = saved;
  const scope = {
    provider,
    alias: provider_alias ?? '',
    from: toTimeText(valid_from),
    to: toTimeText(valid_to),
    note: note ?? '',
  };
  switch (saved.kind) {
    case 'override': {
      const { match, model, service_tier, over_tokens, up_to_tokens, rates } = saved;
      const bounds = { overTokens: toCountText(over_tokens), upToTokens: toCountText(up_to_tokens) };
      return createForm('override', { ...scope, match, model, tier: service_tier, ...bounds, rates });
    }
    case 'mapping':
      return createForm('mapping', {
        ...scope,
        match: saved.match,
        model: saved.model,
        billingModel: saved.billing_model,
      });
    case 'multiplier':
      return createForm('multiplier', { ...scope, factor: saved.factor });
  }
}

function toText(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

const WHOLE = /^\d{1,15}$/;

function toCount(text: string): number | null {
  return WHOLE.test(text.trim()) ? Number(text.trim()) : null;
}

function toRates(rates: Rates): Rates {
  const sent: Partial<Record<UsageClass, string>> = {};
  let name: UsageClass;
  for (name in rates) {
    const rate = rates[name]?.trim() ?? '';
    if (rate !== '') sent[name] = rate;
  }
  return sent;
}

export function toDeclaration(form: DeclarationForm): NewDeclaration {
  const scope = {
    provider: form.provider,
    provider_alias: toText(form.alias),
    valid_from: toInstant(form.from),
    valid_to: toInstant(form.to),
    note: toText(form.note),
  };
  const named = { match: form.match, model: form.model.trim() };
  switch (form.kind) {
    case 'override':
      return {
        kind: 'override',
        ...scope,
        ...named,
        service_tier: form.tier,
        over_tokens: toCount(form.overTokens),
        up_to_tokens: toCount(form.upToTokens),
        rates: toRates(form.rates),
      };
    case 'mapping':
      return { kind: 'mapping', ...scope, ...named, billing_model: form.billingModel.trim() };
    case 'multiplier':
      return { kind: 'multiplier', ...scope, factor: form.factor.trim() };
  }
}

/** By the field's name in the API. */
export type FieldProblems = Readonly<Record<string, string>>;

/** Only what could not be sent at all; the rest is for the API to judge. */
export function findUnsendable(form: DeclarationForm): FieldProblems {
  if (form.kind !== 'override') return {};
  const isBroken = (text: string) => text.trim() !== '' && !WHOLE.test(text.trim());
  const problem = 'Write a whole number of tokens, such as 200000.';
  return {
    ...(isBroken(form.overTokens) ? { over_tokens: problem } : {}),
    ...(isBroken(form.upToTokens) ? { up_to_tokens: problem } : {}),
  };
}

export interface FieldProblem {
  /** As the API names it: `valid_to`, `rates.input`; null when it is about none. */
  readonly field: string | null;
  readonly message: string;
}

/** `add.rates.input: write a decimal`; a preview wraps the declaration in `add`. */
const NAMED = /^(?:add\.)?([a-z_]+(?:\.[a-z0-9_]+)*): (.+)$/s;

export function readFieldProblem(error: unknown, fields: readonly string[]): FieldProblem | null {
  if (error === null || error === undefined) return null;
  if (!(error instanceof ApiError)) return { field: null, message: String(error) };
  const [, field = '', message = ''] = error.status === 400 ? (NAMED.exec(error.message) ?? []) : [];
  return fields.includes(field) ? { field, message } : { field: null, message: error.message };
}
