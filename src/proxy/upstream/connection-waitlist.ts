/**
 * Lets calls wait a moment for a connection whose answer is nearly over. Clients that leave at a stream's last event
 * return before the provider has ended it; without the wait each of their calls would need a new handshake.
 */
import type { InFlightRequest } from './in-flight-request.ts';

export class ConnectionWaitlist<Connection> {
  readonly #connections = new Set<Connection>();
  readonly #waiting = new Map<InFlightRequest, NodeJS.Timeout>();
  readonly #place: (call: InFlightRequest) => void;
  readonly #open: (call: InFlightRequest) => void;

  /** `place` takes a call when a connection is idle, `open` when none will be. */
  constructor(place: (call: InFlightRequest) => void, open: (call: InFlightRequest) => void) {
    this.#place = place;
    this.#open = open;
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  /** Returns false unless there is a connection for each waiting call. */
  tryWait(call: InFlightRequest, waitMs: number): boolean {
    if (this.#connections.size <= this.#waiting.size) return false;
    const limit = setTimeout(() => {
      this.#waiting.delete(call);
      if (!call.isEnded) this.#open(call);
    }, waitMs);
    this.#waiting.set(call, limit);
    return true;
  }

  /** The connection is idle now. */
  freed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#next(this.#place);
  }

  lost(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    if (this.#waiting.size > this.#connections.size) this.#next(this.#open);
  }

  takeAll(): readonly InFlightRequest[] {
    const calls = [...this.#waiting.keys()];
    for (const limit of this.#waiting.values()) clearTimeout(limit);
    this.#waiting.clear();
    this.#connections.clear();
    return calls;
  }

  #next(take: (call: InFlightRequest) => void): void {
    for (const [call, limit] of this.#waiting) {
      clearTimeout(limit);
      this.#waiting.delete(call);
      if (call.isEnded) continue;
      // Not from within the connection's own event.
      queueMicrotask(() => {
        if (!call.isEnded) take(call);
      });
      return;
    }
  }
}
