/** Opens the node's ledger of budgets for this process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { BudgetLedger } from '../../budgets/ledger.ts';
import { LEDGER_NAME, openLedgerDatabase } from '../../budgets/ledger-file.ts';
import { createCallCosts } from '../../pricing/greatest/call-costs.ts';
import { PRICES_FILE } from '../../pricing/prices-file.ts';
import type { Clock } from '../../vocabulary/clock.ts';
import { openAccountPrices } from '../account-prices.ts';
import { BudgetGate } from './budget-gate.ts';
import type { ProxyBudgets } from './proxy-budgets.ts';

export interface ProxyBudgetsOptions {
  readonly dataDir: string;
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
export function openProxyBudgets({
  dataDir,
  process,
  durability,
  clock,
  log,
}: ProxyBudgetsOptions): ProxyBudgets | null {
  const file = join(dataDir, LEDGER_NAME);
  const isThere = existsSync(file);
  try {
    const ledger = new BudgetLedger(openLedgerDatabase(file, durability));
    const prices = openAccountPrices(join(dataDir, PRICES_FILE), log);
    // Before the first call that needs them: loading takes a part of a second.
    const gate = new BudgetGate(ledger, process, clock.nowMs, log, () => void prices.load());
    return {
      gate,
      costs: createCallCosts(prices.bookOf),
      loadPrices: prices.load,
      close: () => {
        gate.close();
        prices.close();
      },
    };
  } catch (error) {
    if (isThere) throw error;
    log.error({ err: error, file }, 'the ledger of budgets cannot be made; this process counts no budgets');
    return null;
  }
}
