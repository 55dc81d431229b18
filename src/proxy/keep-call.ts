/** A call's identity and its records on their way to the spool, the same for calls and websockets. It describes nothing. */
import type { CallBegin, CallBody, CallEnd } from '../call-record.ts';
import type { Gateway } from './gateway.ts';
import type { Arrival, CallFacts } from './record.ts';

export function stampArrival(gateway: Gateway): Arrival {
  const { id, timeMs } = gateway.nextCallId();
  return { id, requestedAtMs: timeMs, monotonicMs: performance.now() };
}

/** The key's own policy outranks the deployment's. */
export function keepsBodies(gateway: Gateway, { key }: CallFacts): boolean {
  return (key.bodies ?? gateway.settings.bodies) === 'full';
}

/** The call is in the spool before its first byte goes upstream; a spool that cannot take it does not stop the call. */
export function keepBegin(gateway: Gateway, begin: CallBegin): Promise<void> {
  return new Promise((resolve) => gateway.spool.begin(begin, () => resolve()));
}

export function keepEnd(gateway: Gateway, begin: CallBegin, end: CallEnd, bodies: CallBody[]): Promise<void> {
  return new Promise((resolve) => gateway.spool.end(begin, end, bodies, () => resolve()));
}
