/**
 * The wait for a client that takes nothing of its answer at the moment, and its end: one that takes nothing for too
 * long is given up. One object for all waits of an answer, since a slow client is waited for at every chunk.
 */
import type { ClientResponse } from './client-exchange.ts';
import type { IdleSweep, IdleWait } from './idle-sweep.ts';

/** A client that takes nothing for this long, while there is something to take, is given up. */
export const STALL_TIMEOUT_MS = 10 * 60_000;
export const STALL_SWEEP_MS = 5_000;

export class ClientStall implements IdleWait {
  touchedMs = 0;
  readonly #outgoing: ClientResponse;
  readonly #sweep: IdleSweep;
  #isWaiting = false;
  #isGivenUp = false;

  constructor(outgoing: ClientResponse, sweep: IdleSweep) {
    this.#outgoing = outgoing;
    this.#sweep = sweep;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  begin(): void {
    this.touchedMs = performance.now();
    this.#isWaiting = true;
    this.#sweep.add(this);
  }

  end(): void {
    if (this.#isWaiting) this.#sweep.remove(this);
    this.#isWaiting = false;
  }

  onIdle(): void {
    this.#isGivenUp = true;
    this.#outgoing.destroy();
  }
}
