/**
 * The budgets of this process: which ones a call comes under, its reservation before it is forwarded, out of what this process
 * has taken from the node's ledger, and its settlement behind its end.
 */
import type { Logger } from 'pino';
import { type Budget, RUN_BUDGET_ID } from '../../budgets/budget.ts';
import { type PeriodBounds, Periods } from '../../budgets/budget-period.ts';
import type { BudgetLedger, Claim } from '../../budgets/ledger.ts';
import {
  ProcessShares,
  type ReserveAnswer,
  type ReserveRequest,
  type Settlement,
} from '../../budgets/process-shares.ts';
import { LaterHolds } from './later-holds.ts';

/** How soon a changed budget is in force here. */
const RELOAD_MS = 200;
const NONE: readonly Budget[] = Object.freeze([]);

interface Asked {
  readonly request: ReserveRequest;
  readonly resolve: (answer: Answered) => void;
  readonly sinceMs: number;
}

/** `unavailable`: the ledger cannot be written, or this node may not spend yet. */
export type Answered = Exclude<ReserveAnswer, { readonly kind: 'short' }> | 'unavailable';

/** So long a call waits for what other processes and nodes have. */
const SHORT_WAIT_MS = 1_500;
const SHORT_RETRY_MS = 10;

function endOf(answer: ReserveAnswer | undefined): Answered {
  if (answer === undefined) return 'unavailable';
  return answer.kind === 'short' ? (answer.refusal ?? 'unavailable') : answer;
}

export class BudgetGate {
  readonly periods = new Periods();
  readonly laterHolds: LaterHolds;
  readonly #ledger: BudgetLedger;
  readonly #process: string;
  readonly #shares: ProcessShares;
  readonly #nowMs: () => number;
  readonly #log: Logger;
  readonly #reload: NodeJS.Timeout;
  readonly #onBudgets: () => void;
  #version = -1;
  #byAccount: ReadonlyMap<number, readonly Budget[]> = new Map();
  #byId: ReadonlyMap<number, Budget> = new Map();
  #asked: Asked[] = [];
  #isFlushDue = false;
  #isFailing = false;

  /** `process`: the name of this process's directory in the spool. `onBudgets`: called while there are any. */
  constructor(
    ledger: BudgetLedger,
    process: string,
    nowMs: () => number,
    log: Logger,
    onBudgets: () => void = () => {},
  ) {
    this.#onBudgets = onBudgets;
    this.#ledger = ledger;
    this.#process = process;
    this.#shares = new ProcessShares(ledger, process, nowMs, (error) => this.#noteFailure(error));
    this.laterHolds = new LaterHolds(ledger, nowMs, (error) => this.#noteFailure(error));
    this.#nowMs = nowMs;
    this.#log = log;
    this.load();
    this.#reload = setInterval(() => this.load(), RELOAD_MS);
    this.#reload.unref();
  }

  /** The budgets of an account, mostly none. */
  of(accountId: number): readonly Budget[] {
    return this.#byAccount.get(accountId) ?? NONE;
  }

  find(id: number): Budget | null {
    return this.#byId.get(id) ?? null;
  }

  /** Whether a call of the run has set one that is in force on this node. */
  hasRunBudget(accountId: number, traceId: string): boolean {
    try {
      const scope = { accountId, budgetId: RUN_BUDGET_ID, value: traceId, periodStartMs: 0 };
      return this.#ledger.readScope(scope).runLimit !== null;
    } catch (error) {
      this.#noteFailure(error);
      return true;
    }
  }

  periodOf({ period, timeZone }: Budget): PeriodBounds {
    return this.periods.at(period, timeZone, this.#nowMs());
  }

  /** At once where this process has the money; else the others are asked. Never rejects. */
  reserve(callId: string, claims: readonly Claim[]): Answered | Promise<Answered> {
    const answer = this.#shares.tryReserve(callId, claims);
    if (answer !== null) return endOf(answer);
    return new Promise((resolve) => {
      this.#asked.push({ request: { callId, claims }, resolve, sinceMs: performance.now() });
      this.#scheduleFlush();
    });
  }

  settle(settlement: Settlement): void {
    this.#shares.settle(settlement);
  }

  /** Takes in what was published since. */
  load(): void {
    try {
      if (this.#ledger.version() === this.#version) return;
      const { version, budgets } = this.#ledger.readBudgets();
      this.#byAccount = Map.groupBy(budgets, ({ accountId }) => accountId);
      this.#byId = new Map(budgets.map((budget) => [budget.id, budget]));
      this.#version = version;
      if (budgets.length > 0) this.#onBudgets();
      this.#ledger.noteRead(this.#process, version);
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  close(): void {
    clearInterval(this.#reload);
    try {
      this.#flush();
      this.#shares.close();
    } catch (error) {
      this.#noteFailure(error);
    }
    this.#ledger.close();
  }

  #scheduleFlush(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  /** All calls of one turn of the event loop that need the ledger share one transaction. */
  #flush(): void {
    this.#isFlushDue = false;
    const asked = this.#asked;
    if (asked.length === 0) return;
    this.#asked = [];
    const nowMs = performance.now();
    try {
      const requests = asked.map(({ request, sinceMs }) => ({ ...request, waitedMs: nowMs - sinceMs }));
      const answers = this.#shares.reserve(requests);
      this.#isFailing = false;
      for (const [index, one] of asked.entries()) this.#answer(one, answers[index]);
    } catch (error) {
      this.#noteFailure(error);
      for (const { resolve } of asked) resolve('unavailable');
    }
  }

  #answer(asked: Asked, answer: ReserveAnswer | undefined): void {
    if (answer?.kind !== 'short' || performance.now() - asked.sinceMs >= SHORT_WAIT_MS) {
      asked.resolve(endOf(answer));
      return;
    }
    setTimeout(() => {
      this.#asked.push(asked);
      this.#scheduleFlush();
    }, SHORT_RETRY_MS);
  }

  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#log.error({ err: error }, 'the ledger of budgets cannot be used');
    this.#isFailing = true;
  }
}
