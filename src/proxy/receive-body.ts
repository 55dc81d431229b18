/**
 * Takes the request's body from the client. A small one is held until it is whole, so that it leaves in one write and
 * its model is known; a large one is passed on as it comes, with back-pressure. One whose stream may have to be asked
 * for usage is held up to a larger limit.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '../errors.ts';
import type { AcceptedRequest } from './accept.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ByteBudget } from './byte-budget.ts';

/** Held whatever the endpoint. */
export const SMALL_BODY_BYTES = 256 * 1024;
/** Held when usage may have to be asked for. */
export const ASKABLE_BODY_BYTES = 32 * 1024 * 1024;
/** Without a byte from the client. */
const BODY_IDLE_TIMEOUT_MS = 60_000;

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
}

export function receiveBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  request: AcceptedRequest,
  copy: BodyCopy,
  limits: BodyLimits,
): Promise<ReceivedBody> {
  if (!request.hasBody) return Promise.resolve({ kind: 'none' });
  if (request.expectsContinue) outgoing.writeContinue();
  if (request.contentLength !== null && request.contentLength > limits.holdBytes) {
    return Promise.resolve({ kind: 'streamed', stream: followBody([], incoming, copy) });
  }
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let heldBytes = 0;
    let takenBytes = 0;
    const idle = setTimeout(() => settle(() => reject(new GatewayError('request_timeout'))), BODY_IDLE_TIMEOUT_MS);

    function settle(act: () => void): void {
      clearTimeout(idle);
      limits.budget.give(takenBytes);
      takenBytes = 0;
      incoming.off('data', onData);
      incoming.off('end', onEnd);
      incoming.off('close', onClose);
      act();
    }
    function onData(chunk: Buffer): void {
      parts.push(chunk);
      heldBytes += chunk.length;
      const isTaken = heldBytes <= SMALL_BODY_BYTES || limits.budget.take(chunk.length);
      if (isTaken && heldBytes > SMALL_BODY_BYTES) takenBytes += chunk.length;
      if (isTaken && heldBytes <= limits.holdBytes) idle.refresh();
      else settle(() => resolve({ kind: 'streamed', stream: followBody(parts, incoming, copy) }));
    }
    function onEnd(): void {
      const [only] = parts;
      const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, heldBytes);
      settle(() => resolve({ kind: 'held', bytes }));
    }
    function onClose(): void {
      settle(() => resolve({ kind: 'client-gone' }));
    }
    incoming.on('data', onData);
    incoming.on('end', onEnd);
    incoming.on('close', onClose);
  });
}

/** A stream of what is held already and then of what still comes; reading it slowly slows the client down. */
function followBody(held: readonly Buffer[], incoming: IncomingMessage, copy: BodyCopy): Readable {
  const body = new Readable({ read: () => incoming.resume() });
  const idle = setTimeout(onIdle, BODY_IDLE_TIMEOUT_MS);
  function onIdle(): void {
    // A paused body waits for the provider, not for the client.
    if (incoming.isPaused()) idle.refresh();
    else body.destroy(new GatewayError('request_timeout'));
  }
  function stop(): void {
    clearTimeout(idle);
    incoming.off('data', onData);
  }
  function onData(chunk: Buffer): void {
    idle.refresh();
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
