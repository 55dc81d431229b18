/** What may be spent, and what is spent and reserved of it. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';

export type Budget = ApiAnswer<'get', '/budgets'>['data'][number];
export type BudgetUse = Budget['uses'][number];

export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: ({ signal }) => getJson('/budgets', {}, signal),
});

/** Of one run or key. */
export function budgetsOfQuery(scope: 'run' | 'key', value: string) {
  return queryOptions({
    queryKey: ['budgets', scope, value],
    queryFn: ({ signal }) => getJson('/budgets', { scope, value }, signal),
  });
}

export interface NewBudget {
  readonly name: string;
  readonly scope: Budget['scope'];
  readonly metadata_key?: string;
  readonly value?: string;
  readonly amount_usd: string;
  readonly period: Budget['period'];
  readonly hard: boolean;
  readonly contact?: string;
}

export function createBudget(budget: NewBudget) {
  return sendJson('post', '/budgets', {}, budget);
}

export function editBudget(id: number, change: { readonly amount_usd: string; readonly hard: boolean }) {
  return sendJson('patch', '/budgets/{id}', { id }, change);
}

export function deleteBudget(id: number) {
  return sendJson('delete', '/budgets/{id}', { id });
}
