/**
 * The token bucket: it holds `capacity`, and is filled at `capacity` a minute. So within any time of t minutes at most
 * `capacity` · (1 + t) is taken, as with the limits of OpenAI and Anthropic. Below zero is what was used beyond an estimate.
 */
const MINUTE_MS = 60_000;
/** Filling adds fractions. */
const ROUNDING = 1e-6;

export class TokenBucket {
  #level: number;
  #capacity: number;
  #filledAtMs: number;

  constructor(capacity: number, nowMs: number) {
    this.#level = capacity;
    this.#capacity = capacity;
    this.#filledAtMs = nowMs;
  }

  /** What is in it now. */
  level(nowMs: number): number {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#filledAtMs = Math.max(this.#filledAtMs, nowMs);
    this.#level = Math.min(this.#capacity, this.#level + (passedMs * this.#capacity) / MINUTE_MS);
    return this.#level;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** What is used stays used when a limit is changed. */
  resize(capacity: number, nowMs: number): void {
    const used = this.#capacity - this.level(nowMs);
    this.#capacity = capacity;
    this.#level = Math.min(capacity, capacity - used);
  }

  has(wanted: number, nowMs: number): boolean {
    return this.level(nowMs) >= wanted - ROUNDING;
  }

  /** Negative: puts back. */
  take(taken: number, nowMs: number): void {
    this.#level = Math.min(this.#capacity, this.level(nowMs) - taken);
  }

  /** Until `wanted` is in it. */
  waitMs(wanted: number, nowMs: number): number {
    const missing = Math.min(wanted, this.#capacity) - this.level(nowMs);
    return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / this.#capacity);
  }

  isFull(nowMs: number): boolean {
    return this.has(this.#capacity, nowMs);
  }
}
