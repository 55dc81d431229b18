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
  readonly resolve: (answer: Answered) => void;
  /** Until then other nodes are asked for what this one lacks. */
  readonly deadlineMs: number;
}

/** `unavailable`: the ledger cannot be written, or this node may not spend yet. */
export type Answered = Exclude<ReserveAnswer, { readonly kind: 'short' }> | 'unavailable';

const SHORT_WAIT_MS = 1_500;
const SHORT_RETRY_MS = 25;

function endOf(answer: ReserveAnswer | undefined): Answered {
  if (answer === undefined) return 'unavailable';
  return answer.kind === 'short' ? (answer.refusal ?? 'unavailable') : answer;
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

  /** Never rejects. */
  reserve(callId: string, claims: readonly Claim[]): Promise<Answered> {
    return new Promise((resolve) => {
      const deadlineMs = performance.now() + SHORT_WAIT_MS;
      this.#asked.push({ request: { callId, claims }, resolve, deadlineMs });
      this.#scheduleFlush();
    });
  }

  /** At once, for what cannot wait. */
  reserveNow(callId: string, claims: readonly Claim[]): Answered {
    try {
      this.#flush();
      return endOf(this.#ledger.apply([], [{ callId, claims }], this.#process, this.#nowMs())[0]);
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
      this.#ledger.noteRead(this.#process, version);
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
      for (const [index, one] of asked.entries()) this.#answer(one, answers[index]);
    } catch (error) {
      this.#noteFailure(error);
      this.#unsettled = settlements;
      if (settlements.length > 0) setTimeout(() => this.#scheduleFlush(), RETRY_MS).unref();
      for (const { resolve } of asked) resolve('unavailable');
    }
  }

  #answer(asked: Asked, answer: ReserveAnswer | undefined): void {
    if (answer?.kind !== 'short' || performance.now() >= asked.deadlineMs) {
      asked.resolve(endOf(answer));
      return;
    }
    setTimeout(() => {
      this.#asked.push(asked);
      this.#scheduleFlush();
    }, SHORT_RETRY_MS);
  }

  /** Whether money has to be leased before it can be spent. */
  isShared(): boolean {
    return this.#ledger.mode() === 'sharing';
  }

  #noteFailure(error: unknown): void {
    if (!this.#isFailing) this.#log.error({ err: error }, 'the ledger of budgets cannot be used');
    this.#isFailing = true;
  }
}
