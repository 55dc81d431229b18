/**
 * The budgets of this node: brings them from the database to the ledger that its proxies share, settles there what ended
 * processes have left, and takes in what the database knows when the ledger is new.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { openLedgerDatabase } from '../../budgets/ledger.ts';
import { FORGOTTEN_AFTER_MS, LedgerUpkeep, MAX_SCOPES, type ScopeUse } from '../../budgets/ledger-upkeep.ts';
import type { BudgetedEnd } from './add-spend.ts';
import { readAllBudgets, readBudgetVersion } from './budget-store.ts';
import { listRecentSpend } from './read-spend.ts';

const TIDY_MS = 60_000;

export interface NodeBudgetsOptions {
  readonly file: string;
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface NodeBudgets {
  /** Publishes the database's budgets if they are new. */
  readonly poll: () => Promise<void>;
  /** After calls were stored. */
  readonly settle: (ends: readonly BudgetedEnd[]) => void;
  /** After all calls of an ended process were stored. */
  readonly releaseProcess: (process: string) => void;
  readonly list: LedgerUpkeep['list'];
  readonly close: () => void;
}

export function openNodeBudgets({ file, pool, nowMs, log }: NodeBudgetsOptions): NodeBudgets {
  const upkeep = new LedgerUpkeep(openLedgerDatabase(file, 'process'));
  let version = -1;
  let isRaised = upkeep.hasBudgets();
  let tidiedMs = Number.NEGATIVE_INFINITY;

  /** A ledger that was lost begins with what the stored calls have spent. */
  async function takeInSpend(): Promise<void> {
    const spend = await listRecentSpend(pool, new Date(nowMs() - FORGOTTEN_AFTER_MS), MAX_SCOPES);
    const uses = new Map<string, Omit<ScopeUse, 'reserved'>>();
    for (const one of spend) {
      const name = JSON.stringify([one.accountId, one.budgetId, one.value, one.periodStartMs]);
      const before = uses.get(name);
      uses.set(name, before === undefined ? one : { ...before, spent: before.spent + one.spent });
    }
    upkeep.raiseSpent([...uses.values()]);
  }

  return {
    poll: async () => {
      if (!isRaised) await takeInSpend();
      isRaised = true;
      if ((await readBudgetVersion(pool)) !== version) {
        const { version: read, budgets } = await readAllBudgets(pool);
        upkeep.publish(budgets);
        version = read;
      }
      if (performance.now() - tidiedMs > TIDY_MS) {
        upkeep.tidy(nowMs());
        tidiedMs = performance.now();
      }
    },
    settle: (ends) => {
      try {
        upkeep.settle(ends.map(({ begin, cost }) => ({ callId: begin.id, cost })));
      } catch (error) {
        log.error({ err: error }, 'the ledger of budgets did not take what calls have cost');
      }
    },
    releaseProcess: (process) => {
      upkeep.releaseProcess(process);
    },
    list: upkeep.list.bind(upkeep),
    close: () => upkeep.close(),
  };
}
