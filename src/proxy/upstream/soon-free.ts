/**
 * Connections whose answer is all but over, and calls that wait a moment for one of them. A client that goes at the
 * last event of a stream is back with its next call before the provider has ended the first: without this wait each
 * call of such a client would open a connection, with a handshake that takes many times as long.
 */
import type { SentCall } from './sent-call.ts';

export class SoonFree<Connection> {
  readonly #connections = new Set<Connection>();
  /** In the order in which they came. */
  readonly #waiting = new Map<SentCall, NodeJS.Timeout>();
  readonly #place: (call: SentCall) => void;
  readonly #open: (call: SentCall) => void;

  /** `place` is for a call when a connection is idle, `open` when none will be. */
  constructor(place: (call: SentCall) => void, open: (call: SentCall) => void) {
    this.#place = place;
    this.#open = open;
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  /** One connection for each call that waits: a call that would be one too many is not taken. */
  tryWait(call: SentCall, waitMs: number): boolean {
    if (this.#connections.size <= this.#waiting.size) return false;
    const limit = setTimeout(() => {
      this.#waiting.delete(call);
      if (!call.isEnded) this.#open(call);
    }, waitMs);
    this.#waiting.set(call, limit);
    return true;
  }

  /** The connection is idle now, and may be taken by whoever comes first. */
  freed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#next(this.#place);
  }

  /** The connection is gone. */
  lost(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    if (this.#waiting.size > this.#connections.size) this.#next(this.#open);
  }

  takeAll(): readonly SentCall[] {
    const calls = [...this.#waiting.keys()];
    for (const limit of this.#waiting.values()) clearTimeout(limit);
    this.#waiting.clear();
    this.#connections.clear();
    return calls;
  }

  #next(take: (call: SentCall) => void): void {
    for (const [call, limit] of this.#waiting) {
      clearTimeout(limit);
      this.#waiting.delete(call);
      if (call.isEnded) continue;
      // Not from within what the connection is doing at the moment.
      queueMicrotask(() => {
        if (!call.isEnded) take(call);
      });
      return;
    }
  }
}
