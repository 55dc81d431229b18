/**
 * Receives the request's body: small ones are held whole, so that the model is known; large ones are streamed with
 * back-pressure. The limit is higher where usage must be asked for, the body signed, its model allowed, or its cost bounded.
 */
import { Readable } from 'node:stream';
import { createGatheredBytes } from '../formats/wire/gathered-bytes.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { BodyCopy } from './body-copy.ts';
import type { CallContext } from './call-context.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import type { Gateway } from './gateway.ts';
import type { IdleSweep, IdleWait } from './idle-sweep.ts';
import { mayComeUnder } from './reserve.ts';

export const SMALL_BODY_BYTES = 256 * 1024;
/** Held to be read: to ask for usage, to sign, for what the key allows, for budgets; AWS takes no body above 25 MB. */
export const LARGEST_HELD_BODY_BYTES = 32 * 1024 * 1024;
/** Longest time without a byte from the client. */
export const BODY_IDLE_MS = 60_000;
export const BODY_SWEEP_MS = 5_000;

const EMPTY = Buffer.alloc(0);

export type ReceivedBody = (
  | { readonly kind: 'none' }
  /** `takenBytes`: of the room for held bodies, until `releaseBody`; an edited copy adds to it. */
  | { readonly kind: 'held'; readonly bytes: Buffer; takenBytes: number }
  /** `why`: it was not held. `isWhole`: all of it has come from the client. */
  | {
      readonly kind: 'streamed';
      readonly stream: Readable;
      readonly why: 'too-large' | 'no-room';
      readonly isWhole: () => boolean;
    }
  /** The client left before its body was whole; nothing was forwarded. */
  | { readonly kind: 'client-gone' }
) & {
  readonly waitMs: number;
};

type BodyGateway = Pick<Gateway, 'heldBodies' | 'idleBodies' | 'budgets'>;

function isToBeRead(call: CallContext, { budgets }: BodyGateway): boolean {
  const { key, route, mayAskForUsage } = call;
  if (
    mayAskForUsage ||
    route.signature.signing !== null ||
    (key.allow?.models !== undefined && route.endpoint.model.in === 'body')
  )
    return true;
  return budgets !== null && mayComeUnder(budgets, call);
}

export function receiveBody(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  call: CallContext,
  copy: BodyCopy,
  gateway: BodyGateway,
): Promise<ReceivedBody> {
  const { request } = call;
  if (!request.hasBody) return Promise.resolve({ kind: 'none', waitMs: 0 });
  if (request.expectsContinue) outgoing.writeContinue();
  const holdBytes = isToBeRead(call, gateway) ? LARGEST_HELD_BODY_BYTES : SMALL_BODY_BYTES;
  if (request.contentLength !== null && request.contentLength > holdBytes) {
    const stream = followBody([], incoming, copy, gateway.idleBodies, () => {});
    return Promise.resolve({ kind: 'streamed', stream, why: 'too-large', isWhole: () => incoming.complete, waitMs: 0 });
  }
  return holdBody(incoming, copy, holdBytes, gateway);
}

function holdBody(
  incoming: ClientRequest,
  copy: BodyCopy,
  holdBytes: number,
  { heldBodies, idleBodies }: BodyGateway,
): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    /** Most bodies come in one piece, which is kept without copying. */
    let first: Buffer | null = null;
    // Gathers a body that comes byte by byte into few buffers.
    const gathered = createGatheredBytes();
    let heldBytes = 0;
    let takenBytes = 0;
    let isSettled = false;
    const startedMs = performance.now();
    const wait: IdleWait = { touchedMs: startedMs, onIdle };
    idleBodies.add(wait);
    const waitedMs = () => performance.now() - startedMs;

    function settle(body: ReceivedBody): void {
      if (isSettled) return;
      isSettled = true;
      idleBodies.remove(wait);
      resolve(body);
    }

    function giveBack(): void {
      if (takenBytes > 0) heldBodies.give(takenBytes);
      takenBytes = 0;
    }

    function onIdle(): void {
      isSettled = true;
      // What still comes is drained behind the refusal.
      incoming.off('data', onData);
      giveBack();
      reject(new GatewayError('request_timeout'));
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
      if (heldBytes <= holdBytes && heldBodies.take(chunk.length)) {
        takenBytes += chunk.length;
        return;
      }
      incoming.off('data', onData);
      const why = heldBytes > holdBytes ? 'too-large' : 'no-room';
      const stream = followBody(takeParts(), incoming, copy, idleBodies, giveBack);
      settle({ kind: 'streamed', stream, why, isWhole: () => incoming.complete, waitMs: waitedMs() });
    }

    function takeParts(): readonly Buffer[] {
      const parts = first === null ? gathered.takeParts() : [first];
      first = null;
      return parts;
    }

    incoming.on('data', onData);
    incoming.on('end', () => {
      if (isSettled) return;
      settle({ kind: 'held', bytes: first ?? gathered.take(null) ?? EMPTY, takenBytes, waitMs: waitedMs() });
    });
    incoming.on('close', () => {
      if (isSettled) return;
      giveBack();
      settle({ kind: 'client-gone', waitMs: waitedMs() });
    });
  });
}

/** Takes room for an edited copy of a held body, as for the body itself. False where there is none. */
export function takeForCopy(
  received: Extract<ReceivedBody, { kind: 'held' }>,
  { heldBodies }: Pick<Gateway, 'heldBodies'>,
): boolean {
  const bytes = Math.max(0, received.bytes.length - SMALL_BODY_BYTES);
  if (bytes === 0) return true;
  if (!heldBodies.take(bytes)) return false;
  received.takenBytes += bytes;
  return true;
}

/** To be called once, at the end of the call: what it held is given back, and a body that is still coming is drained. */
export function releaseBody(received: ReceivedBody, { heldBodies }: Pick<Gateway, 'heldBodies'>): void {
  if (received.kind === 'held' && received.takenBytes > 0) heldBodies.give(received.takenBytes);
  if (received.kind === 'streamed') received.stream.destroy();
}

/**
 * A stream of the held and the coming bytes; reading it slowly slows the client down. `onHeldRead`: the held ones are read,
 * or never will be.
 */
function followBody(
  held: readonly Buffer[],
  incoming: ClientRequest,
  copy: BodyCopy,
  idle: IdleSweep,
  onHeldRead: () => void,
): Readable {
  const body = new Readable({
    // Not called before all but the last of what is held was taken.
    read: () => {
      onHeldRead();
      incoming.resume();
    },
  });
  // It may fail before anybody listens, while the begin is written.
  body.on('error', () => {});
  const wait: IdleWait = { touchedMs: performance.now(), onIdle };
  idle.add(wait);

  function onIdle(): void {
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
  // The provider answered early or went away: the rest is drained.
  body.once('close', () => {
    stop();
    onHeldRead();
    incoming.resume();
  });
  for (const part of held) {
    copy.push(part);
    body.push(part);
  }
  return body;
}
