/**
 * A call's identity, its place in the counts and its records on their way to the spool, the same for calls and
 * websockets. It describes nothing.
 */
import type { CallBegin, CallBody, CallEnd } from '../call-record.ts';
import { STEP_MS } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import type { Caller } from '../sockets/read-caller.ts';
import type { CallFlag } from '../token-usage.ts';
import type { Gateway } from './gateway.ts';
import { type Arrival, type BodyFacts, type CallFacts, describeBegin } from './record.ts';

export function stampArrival(gateway: Gateway): Arrival {
  const { id, timeMs } = gateway.nextCallId();
  const isClockCorrected = gateway.clock.isCorrected();
  return { id, requestedAtMs: timeMs, monotonicMs: performance.now(), wallMs: Date.now(), isClockCorrected };
}

/** A remark when the machine's clock jumped while the call was open. Its duration is right all the same. */
export function withClockFlag(flags: readonly CallFlag[], { monotonicMs, wallMs }: Arrival): readonly CallFlag[] {
  const jumpMs = Date.now() - wallMs - (performance.now() - monotonicMs);
  return Math.abs(jumpMs) >= STEP_MS ? [...flags, 'clock_step'] : flags;
}

/** The key's own policy outranks the deployment's. */
export function keepsBodies(gateway: Gateway, { key }: CallFacts): boolean {
  return (key.bodies ?? gateway.settings.bodies) === 'full';
}

/** Null where the operator keeps none. */
export function keptAddress({ settings }: Gateway, { address }: Caller): string | null {
  return settings.clientAddress === 'keep' ? address : null;
}

/** From here on the call counts: it is in flight until its ending is written or given up. */
export function acceptCall(gateway: Gateway, facts: CallFacts, body: BodyFacts, flags: readonly CallFlag[]): CallBegin {
  const { counters } = gateway;
  counters.accepted += 1;
  counters.inFlight += 1;
  return describeBegin(facts, body, flags, counters.accepted);
}

/**
 * The call is in the spool before its first byte goes upstream. A spool that cannot take it does not stop the call, or
 * refuses it, as the operator has chosen.
 */
export function keepBegin(gateway: Gateway, begin: CallBegin): Promise<void> {
  return new Promise((resolve, reject) =>
    gateway.spool.begin(begin, (kept) => {
      if (kept || gateway.settings.onFull === 'open') resolve();
      else reject(new GatewayError('log_unavailable'));
    }),
  );
}

/** Settles when the ending is written, or given up: then the call is over for the counts. */
export function keepEnd(gateway: Gateway, begin: CallBegin, end: CallEnd, bodies: CallBody[]): Promise<void> {
  return new Promise((resolve) =>
    gateway.spool.end(begin, end, bodies, () => {
      gateway.counters.inFlight -= 1;
      resolve();
    }),
  );
}

/** The ending of a call could not be made: a defect, which is counted like a record that could not be written. */
export function loseEnd(gateway: Gateway, begin: CallBegin, error: unknown): void {
  gateway.log.error({ err: error, request_id: begin.id }, 'the record of a call could not be made');
  gateway.spool.giveUp(begin);
  gateway.counters.inFlight -= 1;
}
