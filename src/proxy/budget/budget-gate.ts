/**
 * The budgets of this process: which ones a call comes under, its reservation in the node's ledger before it is forwarded,
 * and its settlement behind its end. All calls of one turn of the event loop share one transaction of the ledger.
 */
import type { Logger } from 'pino';
import type { Budget } from '../../budgets/budget.ts';
import { type PeriodBounds, Periods } from '../../budgets/budget-period.ts';
import type { BudgetLedger, Claim, ReserveAnswer, ReserveRequest, Settlement } from '../../budgets/ledger.ts';

/** How soon a changed budget is in force here. */
const RELOAD_MS = 200;
/** Settlements that the file does not take now are tried again, so many at most; beyond, they wait for the records. */
const MAX_UNSETTLED = 100_000;
const RETRY_MS = 1_000;

const NONE: readonly Budget[] = Object.freeze([]);

interface Asked {
  readonly request: ReserveRequest;
  readonly resolve: (answer: ReserveAnswer | 'unavailable') => void;
}

export class BudgetGate {
  readonly periods = new Periods();
  readonly #ledger: BudgetLedger;
  readonly #process: string;
  readonly #nowMs: () => number;
  readonly #log: Logger;
  readonly #reload: NodeJS.Timeout;
  readonly #onBudgets: () => void;
  #version = -1;
  #byAccount: ReadonlyMap<number, readonly Budget[]> = new Map();
  #byId: ReadonlyMap<number, Budget> = new Map();
  #asked: Asked[] = [];
  #unsettled: Settlement[] = [];
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

  periodOf({ period, timeZone }: Budget): PeriodBounds {
    return this.periods.at(period, timeZone, this.#nowMs());
  }

  /** Never rejects. `unavailable`: the ledger cannot be written. */
  reserve(callId: string, claims: readonly Claim[]): Promise<ReserveAnswer | 'unavailable'> {
    return new Promise((resolve) => {
      this.#asked.push({ request: { callId, claims }, resolve });
      this.#scheduleFlush();
    });
  }

  /** At once, for what cannot wait. */
  reserveNow(callId: string, claims: readonly Claim[]): ReserveAnswer | 'unavailable' {
    try {
      this.#flush();
      return this.#ledger.apply([], [{ callId, claims }], this.#process, this.#nowMs())[0] ?? 'unavailable';
    } catch (error) {
      this.#noteFailure(error);
      return 'unavailable';
    }
  }

  settle(settlement: Settlement): void {
    if (this.#unsettled.length >= MAX_UNSETTLED) return;
    this.#unsettled.push(settlement);
    this.#scheduleFlush();
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
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  close(): void {
    clearInterval(this.#reload);
    this.#flush();
    this.#ledger.close();
  }

  #scheduleFlush(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushDue = false;
    const asked = this.#asked;
    const settlements = this.#unsettled;
    if (asked.length + settlements.length === 0) return;
    this.#asked = [];
    this.#unsettled = [];
    try {
      const requests = asked.map(({ request }) => request);
      const answers = this.#ledger.apply(settlements, requests, this.#process, this.#nowMs());
      this.#isFailing = false;
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] ?? 'unavailable');
    } catch (error) {
      this.#noteFailure(error);
      this.#unsettled = settlements;
      if (settlements.length > 0) setTimeout(() => this.#scheduleFlush(), RETRY_MS).unref();
      for (const { resolve } of asked) resolve('unavailable');
    }
  }

  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#log.error({ err: error }, 'the ledger of budgets cannot be used');
    this.#isFailing = true;
  }
}
