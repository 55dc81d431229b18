/** Opens the node's ledger of budgets for this process. */
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { BudgetLedger, openLedgerDatabase } from '../../budgets/ledger.ts';
import { createCallCosts } from '../../pricing/greatest/call-costs.ts';
import { createPriceBook, type PriceBook } from '../../pricing/price-book.ts';
import type { Clock } from '../../vocabulary/clock.ts';
import { BudgetGate } from './budget-gate.ts';
import type { ProxyBudgets } from './proxy-budgets.ts';

export interface ProxyBudgetsOptions {
  readonly file: string;
  /** The name of this process's directory in the spool. */
  readonly process: string;
  readonly durability: 'process' | 'power';
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Throws when a ledger that is there cannot be opened: the process ends, since its calls would go uncounted, and its
 * supervisor tries again. Null where none can be made, as on a full disk: no budget was ever in force here.
 */
export function openProxyBudgets({ file, process, durability, clock, log }: ProxyBudgetsOptions): ProxyBudgets | null {
  const isThere = existsSync(file);
  try {
    const ledger = new BudgetLedger(openLedgerDatabase(file, durability));
    let book: PriceBook | null = null;
    const bookOf = (): PriceBook => {
      book ??= createPriceBook();
      return book;
    };
    return { gate: new BudgetGate(ledger, process, clock.nowMs, log), costs: createCallCosts(bookOf) };
  } catch (error) {
    if (isThere) throw error;
    log.error({ err: error, file }, 'the ledger of budgets cannot be made; this process counts no budgets');
    return null;
  }
}
