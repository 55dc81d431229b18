/** Finds the latest calls that a price change may affect, day by day: the log has no index by model. */
import type pg from 'pg';
import type { MatchKind } from '../../../pricing/operator-prices.ts';
import { RENAME_RULES } from '../../../pricing/overlay-rules.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import type { LlmRequestRow } from '../../store/log-columns.ts';
import { BILLABLE_COLUMNS, PRICED_STATUSES } from './billable-from-row.ts';
import type { Declaration } from './declaration.ts';

const DAY_MS = 86_400_000;
const SEARCH_LIMIT_MS = 8_000;

const COLUMNS = [...BILLABLE_COLUMNS, 'billing_model', 'cost_status', 'total_cost', 'known_cost'] as const;
export type PreviewedRow = Pick<LlmRequestRow, (typeof COLUMNS)[number]>;

interface CallScope {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly match: MatchKind;
  readonly model: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

/** The provider serves other names with this model; only pricing tells those calls. */
function isServedUnderOtherNames(provider: ProviderName, match: MatchKind, model: string): boolean {
  const wanted = model.toLowerCase();
  return RENAME_RULES.some(
    (rule) => rule.provider === provider && (match === 'exact' ? rule.model === wanted : rule.model.startsWith(wanted)),
  );
}

export function toCallScope(declaration: Declaration): CallScope {
  const { provider, provider_alias: providerAlias, valid_from: from, valid_to: to } = declaration;
  if (declaration.kind === 'multiplier') return { provider, providerAlias, match: 'exact', model: null, from, to };
  const { match, model } = declaration;
  const isWide = declaration.kind === 'override' && isServedUnderOtherNames(provider, match, model);
  return { provider, providerAlias, match, model: isWide ? null : model, from, to };
}

const NAMES = ['model', 'model_requested', 'billing_model'] as const;

/** A call has up to three model names, and other models may have taken part. */
function isNamed(match: MatchKind, parameter: string): string {
  const test = (name: string) =>
    match === 'exact' ? `lower(${name}) = lower(${parameter})` : `starts_with(lower(${name}), lower(${parameter}))`;
  const others = `usage ? 'others' and exists (
    select from jsonb_array_elements(case jsonb_typeof(usage -> 'others') when 'array' then usage -> 'others' else '[]' end) other
    where ${test("other ->> 'model'")}
  )`;
  return `(${NAMES.map(test).join(' or ')} or ${others})`;
}

function isInScope(scope: CallScope, bind: (value: string) => string): string {
  const conditions = [
    `provider = ${bind(scope.provider)}`,
    ...(scope.providerAlias === null ? [] : [`provider_alias = ${bind(scope.providerAlias)}`]),
    ...(scope.from === null ? [] : [`requested_at >= ${bind(scope.from)}::timestamptz`]),
    ...(scope.to === null ? [] : [`requested_at < ${bind(scope.to)}::timestamptz`]),
    ...(scope.model === null ? [] : [isNamed(scope.match, bind(scope.model))]),
  ];
  return `(${conditions.join(' and ')})`;
}

/** Parameters 1 to 5 are account, day, statuses and limit; those of the scopes follow. */
function createQuestion(scopes: readonly CallScope[]): { readonly text: string; readonly values: readonly string[] } {
  const values: string[] = [];
  const bind = (value: string) => `$${values.push(value) + 5}`;
  const text = `
    select ${COLUMNS.join(', ')} from llm_requests
    where account_id = $1 and requested_at >= $2 and requested_at < $3 and cost_status = any($4)
      and (${scopes.map((scope) => isInScope(scope, bind)).join(' or ')})
    order by requested_at desc, id desc
    limit $5`;
  return { text, values };
}

export interface FoundPreviewCalls {
  readonly rows: readonly PreviewedRow[];
  /** Earlier calls were not searched for want of time; null when the window was searched or enough were found. */
  readonly searchedFrom: Date | null;
}

export async function findPreviewCalls(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  scopes: readonly CallScope[],
  { from, to, limit }: { readonly from: Date; readonly to: Date; readonly limit: number },
): Promise<FoundPreviewCalls> {
  const deadlineMs = performance.now() + SEARCH_LIMIT_MS;
  const { text, values } = createQuestion(scopes);
  const rows: PreviewedRow[] = [];
  let endMs = to.getTime();
  while (endMs > from.getTime() && rows.length < limit) {
    if (performance.now() > deadlineMs) return { rows, searchedFrom: new Date(endMs) };
    const startMs = Math.max(from.getTime(), Math.floor((endMs - 1) / DAY_MS) * DAY_MS);
    const day = [accountId, new Date(startMs), new Date(endMs), [...PRICED_STATUSES], limit - rows.length];
    const found = await client.query<PreviewedRow>(text, [...day, ...values]);
    rows.push(...found.rows);
    endMs = startMs;
  }
  return { rows, searchedFrom: null };
}
