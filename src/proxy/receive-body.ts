/**
 * Takes the request's body from the client. A small one is held until it is whole, so that it leaves in one write and
 * its model is known; a large one is passed on as it comes, with back-pressure. One whose stream may have to be asked
 * for usage is held up to a larger limit.
 */
import { Readable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import type { AcceptedRequest } from './accept.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { BodyTaker, ClientRequest, ClientResponse } from './client-exchange.ts';
import type { IdleSweep, IdleWait } from './idle-sweep.ts';

/** Held whatever the endpoint. */
export const SMALL_BODY_BYTES = 256 * 1024;
/** Held when usage may have to be asked for. */
export const ASKABLE_BODY_BYTES = 32 * 1024 * 1024;
/** Without a byte from the client. */
export const BODY_IDLE_MS = 60_000;
export const BODY_SWEEP_MS = 5_000;

export type ReceivedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'held'; readonly bytes: Buffer }
  | { readonly kind: 'streamed'; readonly stream: Readable }
  /** The client went away before its body was whole; nothing was forwarded. */
  | { readonly kind: 'client-gone' };

export interface BodyLimits {
  readonly holdBytes: number;
  /** Bound on all bodies held together, beyond the small ones. */
  readonly budget: ByteBudget;
  readonly idle: IdleSweep;
}

export function receiveBody(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  request: AcceptedRequest,
  copy: BodyCopy,
  limits: BodyLimits,
): Promise<ReceivedBody> {
  if (!request.hasBody) return Promise.resolve({ kind: 'none' });
  if (request.expectsContinue) outgoing.writeContinue();
  if (request.contentLength !== null && request.contentLength > limits.holdBytes) {
    return Promise.resolve({ kind: 'streamed', stream: followBody([], incoming, copy, limits.idle) });
  }
  return holdBody(incoming, copy, limits);
}

function holdBody(incoming: ClientRequest, copy: BodyCopy, limits: BodyLimits): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    const body = new BodyHold(incoming, copy, limits, resolve, reject);
    limits.idle.add(body);
    incoming.on('close', () => body.onClientClose());
    if (incoming.passBody !== undefined) {
      incoming.passBody(body);
    } else {
      incoming.on('data', body.takeChunk);
      incoming.on('end', () => body.takeEnd());
    }
  });
}

/** Gathers a body until it is whole, or too large to be held. */
class BodyHold implements BodyTaker, IdleWait {
  touchedMs = performance.now();
  readonly #incoming: ClientRequest;
  readonly #copy: BodyCopy;
  readonly #limits: BodyLimits;
  readonly #resolve: (body: ReceivedBody) => void;
  readonly #reject: (error: GatewayError) => void;
  readonly #parts: Buffer[] = [];
  #heldBytes = 0;
  #takenBytes = 0;
  #isSettled = false;

  constructor(
    incoming: ClientRequest,
    copy: BodyCopy,
    limits: BodyLimits,
    resolve: (body: ReceivedBody) => void,
    reject: (error: GatewayError) => void,
  ) {
    this.#incoming = incoming;
    this.#copy = copy;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  readonly takeChunk = (chunk: Buffer): void => {
    this.#parts.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > SMALL_BODY_BYTES) {
      if (this.#heldBytes > this.#limits.holdBytes || !this.#limits.budget.take(chunk.length)) {
        this.#stopTaking();
        const stream = followBody(this.#parts.splice(0), this.#incoming, this.#copy, this.#limits.idle);
        this.#settle({ kind: 'streamed', stream });
        return;
      }
      this.#takenBytes += chunk.length;
    }
    this.touchedMs = performance.now();
  };

  takeEnd(): void {
    const [only] = this.#parts;
    const isOne = this.#parts.length === 1 && only !== undefined;
    this.#settle({ kind: 'held', bytes: isOne ? only : Buffer.concat(this.#parts, this.#heldBytes) });
  }

  onClientClose(): void {
    this.#settle({ kind: 'client-gone' });
  }

  onIdle(): void {
    // What still comes is drained by whoever answers.
    this.#stopTaking();
    if (this.#leave()) this.#reject(new GatewayError('request_timeout'));
  }

  #stopTaking(): void {
    if (this.#incoming.passBody !== undefined) this.#incoming.passBody(null);
    else this.#incoming.off('data', this.takeChunk);
  }

  #settle(body: ReceivedBody): void {
    if (this.#leave()) this.#resolve(body);
  }

  /** True the first time. */
  #leave(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#limits.idle.remove(this);
    if (this.#takenBytes > 0) this.#limits.budget.give(this.#takenBytes);
    return true;
  }
}

/** A stream of what is held already and then of what still comes; reading it slowly slows the client down. */
function followBody(held: readonly Buffer[], incoming: ClientRequest, copy: BodyCopy, idle: IdleSweep): Readable {
  const body = new Readable({ read: () => incoming.resume() });
  // It may fail before anybody listens: the call's beginning is written down first.
  body.on('error', () => {});
  const wait: IdleWait = { touchedMs: performance.now(), onIdle };
  idle.add(wait);

  function onIdle(): void {
    // A paused body waits for the provider, not for the client.
    if (!incoming.isPaused()) {
      body.destroy(new GatewayError('request_timeout'));
      return;
    }
    wait.touchedMs = performance.now();
    idle.add(wait);
  }
  function stop(): void {
    idle.remove(wait);
    incoming.off('data', onData);
  }
  function onData(chunk: Buffer): void {
    wait.touchedMs = performance.now();
    copy.push(chunk);
    if (!body.push(chunk)) incoming.pause();
  }
  incoming.pause();
  incoming.on('data', onData);
  incoming.once('end', () => {
    stop();
    body.push(null);
  });
  incoming.once('close', () => {
    stop();
    if (!incoming.complete) body.destroy(new Error('the client closed the connection while sending its body'));
  });
  // The provider answered early or went away: what the client still sends is taken and dropped.
  body.once('close', () => {
    stop();
    incoming.resume();
  });
  for (const part of held) {
    copy.push(part);
    body.push(part);
  }
  return body;
}
