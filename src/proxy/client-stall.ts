/** The wait for a client that stopped reading, which is given up after a limit. One object serves a whole answer. */
import type { ClientResponse } from './client-exchange.ts';
import type { IdleSweep, IdleWait } from './idle-sweep.ts';

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
