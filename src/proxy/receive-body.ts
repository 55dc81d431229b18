/**
 * Takes the request's body from the client. A small one is held until it is whole, so that it leaves in one write and
 * its model is known; a large one is passed on as it comes, with back-pressure. One whose stream may have to be asked
 * for usage is held up to a larger limit.
 */
import { Readable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { createGatheredBytes } from '../wire/gathered-bytes.ts';
import type { AcceptedRequest } from './accept.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import type { IdleSweep, IdleWait } from './idle-sweep.ts';

/** Held whatever the endpoint. */
export const SMALL_BODY_BYTES = 256 * 1024;
/** Held when usage may have to be asked for. */
export const ASKABLE_BODY_BYTES = 32 * 1024 * 1024;
/** Without a byte from the client. */
export const BODY_IDLE_MS = 60_000;
export const BODY_SWEEP_MS = 5_000;

const EMPTY = Buffer.alloc(0);

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
    /** Of a body in one piece, which most are, the only one. */
    let first: Buffer | null = null;
    // A body that comes byte by byte must not become as many buffers.
    const gathered = createGatheredBytes();
    let heldBytes = 0;
    let takenBytes = 0;
    let isSettled = false;
    const wait: IdleWait = { touchedMs: performance.now(), onIdle: () => settle(null) };
    limits.idle.add(wait);

    /** Null: the client sent nothing for too long. */
    function settle(body: ReceivedBody | null): void {
      if (isSettled) return;
      isSettled = true;
      limits.idle.remove(wait);
      if (takenBytes > 0) limits.budget.give(takenBytes);
      if (body === null) reject(new GatewayError('request_timeout'));
      else resolve(body);
    }

    function onData(chunk: Buffer): void {
      if (first === null && gathered.length === 0) first = chunk;
      else {
        if (first !== null) gathered.push(first);
        first = null;
        gathered.push(chunk);
      }
      heldBytes += chunk.length;
      wait.touchedMs = performance.now();
      if (heldBytes <= SMALL_BODY_BYTES) return;
      if (heldBytes <= limits.holdBytes && limits.budget.take(chunk.length)) {
        takenBytes += chunk.length;
        return;
      }
      incoming.off('data', onData);
      settle({ kind: 'streamed', stream: followBody(takeParts(), incoming, copy, limits.idle) });
    }

    function takeParts(): readonly Buffer[] {
      const parts = first === null ? gathered.takeParts() : [first];
      first = null;
      return parts;
    }

    incoming.on('data', onData);
    incoming.on('end', () => {
      if (isSettled) return;
      settle({ kind: 'held', bytes: first ?? gathered.take(null) ?? EMPTY });
    });
    incoming.on('close', () => settle({ kind: 'client-gone' }));
  });
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
