/** Metrics of budgets: how this node takes part in spending, and how far the most used are. By number, since names are people's words. */
import type { SharingMode } from '../../../budgets/ledger.ts';
import { type BudgetStanding, MAX_SHOWN_BUDGETS } from '../../budgets/budget-overview.ts';
import { gauge, type MetricDefinition } from './metric.ts';

const MODES: readonly SharingMode[] = ['sole', 'sharing', 'waiting'];

/** A ratio has four digits: money itself is never a float. */
const PARTS = 10_000n;

function ofEach(name: string, help: string, read: (standing: BudgetStanding) => number): MetricDefinition {
  return {
    name,
    help,
    type: 'gauge',
    labels: ['account', 'budget'],
    read: ({ budgetOverview }) =>
      (budgetOverview?.budgets ?? []).map((standing) => ({
        labels: { account: String(standing.budget.accountId), budget: String(standing.budget.id) },
        value: read(standing),
      })),
  };
}

export const BUDGETS: readonly MetricDefinition[] = [
  {
    name: 'tollgate_budget_mode',
    help: '1: how this node spends of hard budgets; waiting: not at all, since a node that was alone is lost.',
    type: 'gauge',
    labels: ['mode'],
    read: ({ budgets }) =>
      budgets === null ? [] : MODES.map((mode) => ({ labels: { mode }, value: budgets.mode === mode ? 1 : 0 })),
  },
  gauge(
    'tollgate_budget_processes_ended',
    'Ended proxy processes that hold money of budgets until their records are stored.',
    (s) => s.budgets?.endedProcesses,
  ),
  gauge('tollgate_budgets', 'Budgets in force, in all accounts.', (s) => s.budgetOverview?.count),
  ofEach(
    'tollgate_budget_used_ratio',
    `What the run, key, … that has spent most has used of its budget, by stored calls; of the ${MAX_SHOWN_BUDGETS} most used budgets.`,
    ({ budget, mostSpent }) => Number((mostSpent * PARTS) / budget.amount) / Number(PARTS),
  ),
  ofEach(
    'tollgate_budget_values_used_up',
    'How many runs, keys, … have used all of their budget; of runs only those of the last day.',
    ({ usedUp }) => usedUp,
  ),
  gauge(
    'tollgate_budget_nodes_lost',
    'Nodes that take part in budgets and are silent; what they hold stays set aside.',
    (s) => s.budgetOverview?.nodes.filter(({ isLost }) => isLost).length,
  ),
];
