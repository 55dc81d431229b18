/**
 * This process's part of the limits: credits that the supervisor has given it. Most calls take theirs from a purse
 * without waiting; where it has too few, the supervisor is asked, which takes a fraction of a millisecond.
 */
import {
  addCredits,
  type Credits,
  type Limit,
  type LimitAnswer,
  type LimitAsk,
  type LimitRefusal,
  type LimitReturn,
  NO_CREDITS,
  subtractCredits,
} from '../../vocabulary/limit.ts';

/** What is not used within it goes back, so that it lets through no more than a second's worth later than it was taken. */
export const LEASE_MS = 1_000;
const SWEEP_MS = 500;
/** Without an answer the call passes: the supervisor is overloaded or gone, and limits must not stop a node. */
const ANSWER_LIMIT_MS = 1_000;

interface Purse {
  credits: Credits;
  limit: Limit | null;
  grantedAtMs: number;
}

/** What a call has taken, and of which purse. */
export interface Booking {
  readonly subject: string;
  readonly credits: Credits;
}

/** Null where nobody answered, so that nothing is given back. */
export type Taken = Booking | LimitRefusal | null;

interface OpenAsk {
  readonly subject: string;
  readonly limit: Limit;
  readonly need: Credits;
  readonly settle: (taken: Taken) => void;
}

export class LimitPurses {
  readonly #purses = new Map<string, Purse>();
  readonly #asks = new Map<number, OpenAsk>();
  /** How many asks are open, by subject. */
  readonly #asking = new Map<string, number>();
  readonly #send: (message: LimitAsk | LimitReturn) => boolean;
  readonly #onUnanswered: () => void;
  readonly #nowMs: () => number;
  readonly #sweep: NodeJS.Timeout;
  #lastAsk = 0;

  /** `send` returns false when nobody is there. `onUnanswered`: a call has passed without its limits. */
  constructor(
    send: (message: LimitAsk | LimitReturn) => boolean,
    onUnanswered: () => void = () => {},
    nowMs: () => number = () => performance.now(),
  ) {
    this.#send = send;
    this.#onUnanswered = onUnanswered;
    this.#nowMs = nowMs;
    this.#sweep = setInterval(() => this.returnAll(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** At once where the purse has enough. */
  take(subject: string, limit: Limit, need: Credits): Booking | Promise<Taken> {
    return this.#takeFromPurse(subject, limit, need) ?? this.#ask(subject, limit, need);
  }

  /** Slots of calls that are over, and the difference between tokens taken and used, which may be below zero. */
  give(subject: string, credits: Credits): void {
    const purse = this.#purses.get(subject) ?? {
      credits: NO_CREDITS,
      limit: null,
      grantedAtMs: Number.NEGATIVE_INFINITY,
    };
    purse.credits = addCredits(purse.credits, credits);
    this.#purses.set(subject, purse);
    // Used beyond the estimate: the other processes must know.
    if (purse.credits.tokens < 0 || purse.credits.requests < 0) this.#returnRest(subject, purse);
  }

  onAnswer({ ask, subject, granted, refusal }: LimitAnswer): void {
    const open = this.#asks.get(ask);
    if (open === undefined) {
      // It came too late.
      if (granted !== null) this.give(subject, granted);
      return;
    }
    this.#close(ask, open);
    if (granted === null) {
      // What another ask was given to spare, or an ended call has left, may be enough.
      open.settle(this.#takeFromPurse(subject, open.limit, open.need) ?? refusal);
      return;
    }
    const purse = this.#purses.get(subject);
    const credits = smaller(open.need, granted);
    const rest = subtractCredits(granted, credits);
    this.#purses.set(subject, {
      credits: purse === undefined ? rest : addCredits(purse.credits, rest),
      limit: open.limit,
      grantedAtMs: this.#nowMs(),
    });
    open.settle({ subject, credits });
  }

  onRecall(subject: string): void {
    const purse = this.#purses.get(subject);
    if (purse === undefined) this.#send({ type: 'limit-return', subject, credits: NO_CREDITS, isAll: true });
    else this.#returnRest(subject, purse);
  }

  /** Nothing is asked, and nothing is left to return. */
  get isIdle(): boolean {
    return this.#purses.size === 0 && this.#asks.size === 0;
  }

  returnAll(): void {
    for (const [subject, purse] of this.#purses) this.#returnRest(subject, purse);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #returnRest(subject: string, { credits }: Purse): void {
    this.#purses.delete(subject);
    this.#send({ type: 'limit-return', subject, credits, isAll: true });
  }

  #takeFromPurse(subject: string, limit: Limit, need: Credits): Booking | null {
    const purse = this.#purses.get(subject);
    if (purse === undefined || !isSame(purse.limit, limit) || this.#nowMs() - purse.grantedAtMs >= LEASE_MS)
      return null;
    const left = subtractCredits(purse.credits, need);
    if (left.slots < 0 || left.requests < 0 || left.tokens < 0) return null;
    purse.credits = left;
    return { subject, credits: need };
  }

  #ask(subject: string, limit: Limit, need: Credits): Promise<Taken> {
    this.#lastAsk += 1;
    const ask = this.#lastAsk;
    const back = this.#purses.get(subject)?.credits ?? NO_CREDITS;
    this.#purses.delete(subject);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#close(ask, open);
        this.#onUnanswered();
        resolve(null);
      }, ANSWER_LIMIT_MS);
      const settle = (taken: Taken) => {
        clearTimeout(timer);
        resolve(taken);
      };
      const open: OpenAsk = { subject, limit, need, settle };
      const others = this.#asking.get(subject) ?? 0;
      this.#asks.set(ask, open);
      this.#asking.set(subject, others + 1);
      if (this.#send({ type: 'limit-ask', ask, subject, limit, need, back, isAlone: others === 0 })) return;
      this.#close(ask, open);
      settle(null);
    });
  }

  #close(ask: number, { subject }: OpenAsk): void {
    this.#asks.delete(ask);
    const others = (this.#asking.get(subject) ?? 1) - 1;
    if (others === 0) this.#asking.delete(subject);
    else this.#asking.set(subject, others);
  }
}

/** A call that needs more than a whole limit is given all of it. */
function smaller(need: Credits, granted: Credits): Credits {
  return {
    slots: Math.min(need.slots, granted.slots),
    requests: Math.min(need.requests, granted.requests),
    tokens: Math.min(need.tokens, granted.tokens),
  };
}

/** A run token has a copy of its key's. */
function isSame(a: Limit | null, b: Limit): boolean {
  return (
    a === b ||
    (a !== null &&
      a.concurrent === b.concurrent &&
      a.requestsPerMinute === b.requestsPerMinute &&
      a.tokensPerMinute === b.tokensPerMinute)
  );
}
