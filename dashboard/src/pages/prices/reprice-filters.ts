/** Which calls a declaration is about, as filters of the log. */
import type { UnpricedModel } from '../../api/prices.ts';
import { filterByValue, formatFilter } from '../../search/filter-text.ts';
import type { DeclarationForm } from './declaration-form.ts';

/** Billed under what the form names: calls that it would change, and perhaps some that it does not. */
export function filtersOf(form: DeclarationForm): readonly string[] {
  const { provider, alias, match, model } = form;
  const filters = [formatFilter({ field: 'provider', op: 'eq', values: [provider] })];
  if (alias.trim() !== '') filters.push(formatFilter({ field: 'provider_alias', op: 'eq', values: [alias.trim()] }));
  if (form.kind !== 'multiplier' && model.trim() !== '')
    filters.push(
      formatFilter({ field: 'billing_model', op: match === 'exact' ? 'eq' : 'prefix', values: [model.trim()] }),
    );
  return filters;
}

/** The calls of a model; whether they have a price is asked apart. */
export function repriceFilters({ provider, model }: Pick<UnpricedModel, 'provider' | 'model'>): readonly string[] {
  return [filterByValue('provider', provider), filterByValue('billing_model', model)];
}

export function unpricedFilters(row: UnpricedModel): readonly string[] {
  return [
    ...repriceFilters(row),
    filterByValue('endpoint', row.endpoint),
    formatFilter({ field: 'cost_status', op: 'in', values: ['unpriced', 'partial'] }),
  ];
}

/** First words of the queries whose answers are others once calls were priced again. */
export const REPRICED: readonly string[] = [
  'prices',
  'reprice',
  'jobs',
  'log',
  'log-revisions',
  'logs',
  'logs-summary',
  'runs',
  'runs-summary',
  'run',
  'costs',
  'keys',
];
