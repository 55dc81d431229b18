/**
 * The budgets of this node: brings them from the database to the ledger that its proxies share, takes in what ended
 * processes have spent, and what the database knows when the ledger is new or the database's sums are others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { SharingMode } from '../../budgets/ledger.ts';
import { openLedgerDatabase } from '../../budgets/ledger-file.ts';
import { FORGOTTEN_AFTER_MS, LedgerUpkeep, MAX_SCOPES, type ScopeUse } from '../../budgets/ledger-upkeep.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { inSnapshot } from '../store/pool.ts';
import { readAllBudgets } from './budget-store.ts';
import { forgetOldSums } from './forget-old-sums.ts';
import { replaceLeases, takeOverNames } from './leases.ts';
import { forgetProcess, listProcessSpend } from './process-spend.ts';
import { readLook } from './read-look.ts';
import { listRecentSpend } from './read-spend.ts';
import { createBudgetSharing } from './share-budgets.ts';

const TIDY_MS = 60_000;
/** A node that is alone stops so long before others may take over: clocks do not run alike. */
const TAKEOVER_MARGIN_MS = 5 * 60_000;
/** Written into the ledger so seldom, since each look moves it. */
const ALONE_WRITE_MS = 60_000;
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
  /** The proxies that live, by the names of their directories in the spool. */
  readonly listProcesses: () => readonly string[];
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  /** How often old rows go and what others have left is counted again. */
  readonly tidyMs?: number;
}

export interface NodeBudgets {
  /** Publishes the database's budgets if they are new, and settles whether this node is alone. */
  readonly poll: () => Promise<void>;
  /** As `poll`, then waits until the calls of all processes come under the budgets, two seconds at most. */
  readonly publish: () => Promise<void>;
  /** Leases money of the other nodes and gives them theirs. */
  readonly exchange: () => Promise<void>;
  /** After all calls of an ended process were stored; perhaps again. */
  readonly takeInProcess: (process: string) => Promise<void>;
  /** What is spent and reserved on this node now. */
  readonly list: (
    scope: { readonly accountId: number; readonly budgetId: number },
    only: { readonly value?: string; readonly periodStartMs?: number },
    limit: number,
  ) => Promise<readonly ScopeUse[]>;
  readonly readState: () => BudgetState;
  readonly close: () => void;
}

export interface BudgetState {
  /** `waiting`: this node may spend nothing of hard budgets, since a node that was alone has not said that it shares. */
  readonly mode: SharingMode;
  /** Processes that have ended, and hold money until their records are stored. */
  readonly endedProcesses: number;
}

export function openNodeBudgets({
  file,
  id,
  node,
  hasProxies,
  listProcesses,
  pool,
  nowMs,
  tidyMs = TIDY_MS,
}: NodeBudgetsOptions): NodeBudgets {
  const upkeep = new LedgerUpkeep(openLedgerDatabase(file, 'process'));
  let version: string | null = null;
  const sharing = createBudgetSharing({
    pool,
    id,
    node,
    upkeep,
    listProcesses,
    onNameTaken: takeInSpend,
    nowMs,
  });
  const formerNames = upkeep.noteName(node);
  let amounts: ReadonlyMap<number, PicoUsd> = new Map();
  let tidiedMs = Number.NEGATIVE_INFINITY;
  let aloneUntilMs = 0;

  let last: Promise<unknown> = Promise.resolve();

  /** One after another: what is read of the database is written here before anything else of it is. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work);
    last = next;
    return next;
  }

  const listOwnSpend = (client: pg.ClientBase | pg.Pool) =>
    listRecentSpend(client, node, new Date(nowMs() - FORGOTTEN_AFTER_MS), MAX_SCOPES);

  async function takeInSpend(): Promise<void> {
    upkeep.raiseSpent(await listOwnSpend(pool));
  }

  /**
   * The ledger is new, the database is another one, or a backup was restored: the database's sums take the place of the
   * ledger's. Until `join` nothing is spent of hard budgets. That it was done is noted last, so that a node which is
   * killed in between does it again.
   */
  async function takeInSums(sumsId: string): Promise<void> {
    if (formerNames.length > 0) await takeOverNames(pool, { id, name: node, former: formerNames });
    if (hasProxies) {
      // Its processes give back what no call of theirs holds.
      upkeep.setMode('waiting');
      await upkeep.ask(listProcesses());
    }
    const [spent, stored] = await inSnapshot(pool, async (client) => [
      await listOwnSpend(client),
      await listProcessSpend(client, upkeep.listProcesses()),
    ]);
    await replaceLeases(pool, { id, node }, upkeep.replaceSpent(spent, stored));
    sharing.beginAnew();
    upkeep.noteSumsId(sumsId);
  }

  async function publish(seen: string): Promise<void> {
    if (seen === version) return;
    // The version is older: a change in between is read once more.
    const budgets = await readAllBudgets(pool);
    upkeep.publish(budgets);
    version = seen;
    const before = amounts;
    amounts = new Map(budgets.map(({ id, amount }) => [id, amount]));
    for (const { id, amount } of budgets) if (amount < (before.get(id) ?? 0n)) await sharing.giveBackOf(id);
  }

  /** After a longer time was taken back, or a clock was set, it may be earlier than before. */
  function noteAlone(untilMs: number): void {
    if (Math.abs(untilMs - aloneUntilMs) < ALONE_WRITE_MS) return;
    upkeep.setAloneUntil(untilMs);
    aloneUntilMs = untilMs;
  }

  async function poll(): Promise<void> {
    const isTidyDue = performance.now() - tidiedMs > tidyMs;
    if (isTidyDue && formerNames.length > 0) await takeOverNames(pool, { id, name: node, former: formerNames });
    const askedMs = nowMs();
    const look = await readLook(pool, node, id);
    if (look.sumsId !== upkeep.readSumsId(askedMs)) await takeInSums(look.sumsId);
    if (hasProxies) await sharing.join(look);
    if (look.aloneForMs !== null) noteAlone(askedMs + look.aloneForMs - TAKEOVER_MARGIN_MS);
    await publish(look.version);
    if (isTidyDue) {
      upkeep.tidy(nowMs());
      await sharing.recount();
      await forgetOldSums(pool);
      tidiedMs = performance.now();
    }
  }

  return {
    poll: () => inTurn(poll),
    publish: async () => {
      await inTurn(poll);
      const deadlineMs = performance.now() + READ_LIMIT_MS;
      while (!upkeep.isReadBy(listProcesses()) && performance.now() < deadlineMs) await sleep(READ_LOOK_MS);
    },
    exchange: async () => {
      if (hasProxies) await inTurn(sharing.exchange);
    },
    takeInProcess: (process) =>
      inTurn(async () => {
        // Between the two it may be killed: the ledger takes it in once.
        upkeep.takeInProcess(process, await listProcessSpend(pool, [process]));
        await forgetProcess(pool, process);
      }),
    list: async (scope, only, limit) => {
      const living = listProcesses();
      await upkeep.ask(living);
      return upkeep.list(scope, only, limit, living);
    },
    readState: () => {
      const living = new Set(listProcesses());
      const ended = upkeep.listProcesses().filter((process) => !living.has(process));
      return { mode: upkeep.mode(nowMs()), endedProcesses: ended.length };
    },
    close: () => {
      upkeep.keepOnlyUsed();
      upkeep.close();
    },
  };
}
