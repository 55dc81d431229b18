/** Limits on calls: how many at once, and how many requests and tokens a minute. */

/** Absent: without that limit. At least one is there. */
export interface Limit {
  readonly concurrent?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** A limit of an account. That of a key is in its `KeyEntry`. */
export interface AccountLimit extends Limit {
  readonly limitId: number;
  readonly accountId: number;
  /** The metadata key whose values are limited, each by itself; null: all calls of the account together. */
  readonly metadataKey: string | null;
  /** For this value alone, instead of the limit for each; null: for each value. */
  readonly metadataValue: string | null;
}

/** What calls take of a limit: slots are given back when they end, the others flow back with time. */
export interface Credits {
  readonly slots: number;
  readonly requests: number;
  readonly tokens: number;
}

export interface LimitRefusal {
  readonly kind: 'slots' | 'requests' | 'tokens';
  /** At once, or a minute. */
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
}

/** What is in use of a limit on one node. */
export interface LimitUse {
  /** As in `subject-names.ts`. */
  readonly subject: string;
  readonly slots: number;
  /** Taken and not flowed back. */
  readonly requests: number;
  readonly tokens: number;
}

/**
 * Proxy to supervisor. `back`: what the proxy has left of what it was given for this subject. `isAlone`: no other ask of
 * the proxy for it is open. Only such a one is given some to spare: a burst of asks would else use up the limit.
 */
export interface LimitAsk {
  readonly type: 'limit-ask';
  readonly ask: number;
  readonly subject: string;
  readonly limit: Limit;
  readonly need: Credits;
  readonly back: Credits;
  readonly isAlone: boolean;
}

export interface LimitAnswer {
  readonly type: 'limit-answer';
  readonly ask: number;
  /** What it is booked on: another one than asked for where too many values are in use. */
  readonly subject: string;
  /** At least what was needed; null: refused. */
  readonly granted: Credits | null;
  readonly refusal: LimitRefusal | null;
}

/** Proxy to supervisor. */
export interface LimitReturn {
  readonly type: 'limit-return';
  readonly subject: string;
  /** Negative: more was used than taken. */
  readonly credits: Credits;
  /** The proxy has nothing left of this subject but what its calls use. */
  readonly isAll: boolean;
}

/** Supervisor to proxy: return what is left, another process needs it. */
export interface LimitRecall {
  readonly type: 'limit-recall';
  readonly subject: string;
}

export const NO_CREDITS: Credits = Object.freeze({ slots: 0, requests: 0, tokens: 0 });

export function addCredits(a: Credits, b: Credits): Credits {
  return { slots: a.slots + b.slots, requests: a.requests + b.requests, tokens: a.tokens + b.tokens };
}

export function subtractCredits(a: Credits, b: Credits): Credits {
  return { slots: a.slots - b.slots, requests: a.requests - b.requests, tokens: a.tokens - b.tokens };
}

export function isNothing({ slots, requests, tokens }: Credits): boolean {
  return slots === 0 && requests === 0 && tokens === 0;
}
