/** Metrics of budgets: how this node takes part in spending. What is spent of each stands in the API, since names are a client's words. */
import type { SharingMode } from '../../../budgets/ledger.ts';
import { gauge, type MetricDefinition } from './metric.ts';

const MODES: readonly SharingMode[] = ['sole', 'sharing', 'waiting'];

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
];
