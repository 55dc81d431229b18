/** Opens the node's ledger of budgets for this process. Without it calls would go uncounted, so a failure is told loudly. */
import type { Logger } from 'pino';
import { BudgetLedger, openLedgerDatabase } from '../../budgets/ledger.ts';
import type { Clock } from '../../vocabulary/clock.ts';
import { BudgetGate } from './budget-gate.ts';
import type { CallCosts } from './call-costs.ts';
import type { ProxyBudgets } from './proxy-budgets.ts';

export interface ProxyBudgetsOptions {
  readonly file: string;
  /** The name of this process's directory in the spool. */
  readonly process: string;
  readonly durability: 'process' | 'power';
  readonly costs: CallCosts;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Throws when the ledger cannot be opened: the process ends, and its supervisor says so. */
export function openProxyBudgets({ file, process, durability, costs, clock, log }: ProxyBudgetsOptions): ProxyBudgets {
  const ledger = new BudgetLedger(openLedgerDatabase(file, durability));
  return { gate: new BudgetGate(ledger, process, clock.nowMs, log), costs };
}
