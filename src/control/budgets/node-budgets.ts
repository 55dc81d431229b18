/**
 * The budgets of this node: brings them from the database to the ledger that its proxies share, settles there what ended
 * processes have left, and takes in what the database knows when the ledger is new.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { openLedgerDatabase } from '../../budgets/ledger.ts';
import { FORGOTTEN_AFTER_MS, LedgerUpkeep, MAX_SCOPES } from '../../budgets/ledger-upkeep.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { BudgetedEnd } from './add-spend.ts';
import { readAllBudgets, readBudgetVersion } from './budget-store.ts';
import { forgetOldLeases, takeOverNames } from './leases.ts';
import { listRecentSpend } from './read-spend.ts';
import { createBudgetSharing } from './share-budgets.ts';

const TIDY_MS = 60_000;
/** A proxy looks four times a second; one that hangs takes nothing in, and sends nothing either. */
const READ_LIMIT_MS = 2_000;
const READ_LOOK_MS = 20;

export interface NodeBudgetsOptions {
  readonly file: string;
  readonly id: string;
  /** Its name in the records of its calls. */
  readonly node: string;
  /** A node without proxies spends nothing. */
  readonly hasProxies: boolean;
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface NodeBudgets {
  /** Publishes the database's budgets if they are new, and settles whether this node is alone. */
  readonly poll: () => Promise<void>;
  /** As `poll`, then waits until the calls of these processes come under the budgets, two seconds at most. */
  readonly publish: (processes: readonly string[]) => Promise<void>;
  /** Leases money of the other nodes and gives them theirs. */
  readonly exchange: () => Promise<void>;
  /** After calls were stored. */
  readonly settle: (ends: readonly BudgetedEnd[]) => void;
  /** After all calls of an ended process were stored. */
  readonly releaseProcess: (process: string) => void;
  readonly list: LedgerUpkeep['list'];
  readonly close: () => void;
}

export function openNodeBudgets({ file, id, node, hasProxies, pool, nowMs, log }: NodeBudgetsOptions): NodeBudgets {
  const upkeep = new LedgerUpkeep(openLedgerDatabase(file, 'process'));
  let version: string | null = null;
  let isRaised = upkeep.hasBudgets();
  const sharing = createBudgetSharing({ pool, id, node, upkeep, nowMs, onNameTaken: takeInSpend });
  const formerNames = upkeep.noteName(node);
  let amounts: ReadonlyMap<number, PicoUsd> = new Map();
  let tidiedMs = Number.NEGATIVE_INFINITY;

  /** A ledger that was lost begins with what the stored calls of this node have spent. */
  async function takeInSpend(): Promise<void> {
    upkeep.raiseSpent(await listRecentSpend(pool, node, new Date(nowMs() - FORGOTTEN_AFTER_MS), MAX_SCOPES));
  }

  async function publish(): Promise<void> {
    if ((await readBudgetVersion(pool)) === version) return;
    const { version: read, budgets } = await readAllBudgets(pool);
    upkeep.publish(budgets);
    version = read;
    const before = amounts;
    amounts = new Map(budgets.map(({ id, amount }) => [id, amount]));
    for (const { id, amount } of budgets) if (amount < (before.get(id) ?? 0n)) await sharing.giveBackOf(id);
  }

  async function poll(): Promise<void> {
    const isTidyDue = performance.now() - tidiedMs > TIDY_MS;
    if (isTidyDue && formerNames.length > 0) await takeOverNames(pool, { id, name: node, former: formerNames });
    if (!isRaised) await takeInSpend();
    isRaised = true;
    if (hasProxies) await sharing.join();
    await publish();
    if (isTidyDue) {
      upkeep.tidy(nowMs());
      await forgetOldLeases(pool, new Date(nowMs() - FORGOTTEN_AFTER_MS));
      tidiedMs = performance.now();
    }
  }

  return {
    poll,
    publish: async (processes) => {
      await poll();
      const deadlineMs = performance.now() + READ_LIMIT_MS;
      while (!upkeep.isReadBy(processes) && performance.now() < deadlineMs) await sleep(READ_LOOK_MS);
    },
    exchange: async () => {
      if (hasProxies) await sharing.exchange();
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
    close: () => {
      upkeep.keepOnlyUsed();
      upkeep.close();
    },
  };
}
