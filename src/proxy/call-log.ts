/** One call's records on their way to the spool (begin, checkpoints, end), with its id, times and body copies. */

import type { Claim } from '../budgets/ledger.ts';
import type { Caller } from '../sockets/read-caller.ts';
import type { CallBegin, CallBody, CallEnd } from '../vocabulary/call-record.ts';
import type { KeyEntry } from '../vocabulary/channel.ts';
import { GatewayError, type GatewayErrorCode } from '../vocabulary/errors.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { BodyCopy } from './body-copy.ts';
import { formatFlatUsd } from './budget/flat-usd.ts';
import { addedCost } from './budget/proxy-budgets.ts';
import type { Arrival, CallContext, RequestedModel } from './call-context.ts';
import { describeBegin } from './describe-begin.ts';
import { type AnswerSummary, describeCheckpoint, describeRejection } from './describe-end.ts';
import type { Gateway } from './gateway.ts';
import type { GatewayHeaders } from './gateway-headers.ts';
import { redactCredentials, redactReading } from './redact-credentials.ts';
import type { Route } from './route.ts';
import type { ValidRequest } from './validate-request.ts';

export interface CallEnding {
  readonly end: CallEnd;
  readonly bodies: CallBody[];
  /** Nothing of it went to the provider, so that it costs nothing. */
  readonly isUnsent?: boolean;
}

export function noteArrival(gateway: Gateway): Arrival {
  const { id, timeMs } = gateway.nextCallId();
  return {
    id,
    requestedAtMs: timeMs,
    monotonicMs: performance.now(),
    wallMs: Date.now(),
    isClockCorrected: gateway.clock.isCorrected(),
  };
}

const NO_HEADERS: readonly string[] = Object.freeze([]);
const NO_CLAIMS: readonly Claim[] = Object.freeze([]);
const NO_FLAGS: readonly CallFlag[] = Object.freeze([]);

export class CallLog {
  readonly arrival: Arrival;
  readonly requestCopy: BodyCopy;
  readonly responseCopy: BodyCopy;
  readonly #gateway: Gateway;
  #call: CallContext | null = null;
  #begin: CallBegin | null = null;
  /** The ending was handed to the spool or given up. */
  #hasEnded = false;
  #overheadUs = 0;
  /** Headers that the gateway added itself, flat, whose credentials are hidden as well. */
  #ownHeaders = NO_HEADERS;
  /** What it holds in budgets until it is settled. */
  #claims = NO_CLAIMS;
  #budgetFlags = NO_FLAGS;
  /** What its turns have cost, where it holds for them; null: of one nobody knows. */
  #costOfTurns: PicoUsd | null = 0n;

  constructor(gateway: Gateway, arrival = noteArrival(gateway)) {
    this.arrival = arrival;
    this.requestCopy = new BodyCopy(gateway.copies);
    this.responseCopy = new BodyCopy(gateway.copies);
    this.#gateway = gateway;
  }

  /** Microseconds that the gateway itself took before the call went out. */
  get overheadUs(): number {
    return this.#overheadUs;
  }

  /** From here on the call has a row, even if refused. The key's own policies outrank the deployment's. */
  identify(
    key: KeyEntry,
    caller: Caller,
    request: ValidRequest,
    headers: GatewayHeaders,
    route: Route,
    connectionId: string | null = null,
  ): CallContext {
    const { settings } = this.#gateway;
    this.#call = {
      arrival: this.arrival,
      key,
      node: settings.node,
      clientAddress: settings.clientAddress === 'keep' ? caller.address : null,
      request,
      headers,
      route,
      mayAskForUsage:
        (key.usage ?? settings.usage) === 'ask' &&
        !route.signature.isClients &&
        route.provider.asksForUsage(route.endpoint),
      logsBodies: (key.bodies ?? settings.bodies) === 'full',
      connectionId,
    };
    return this.#call;
  }

  /** Makes this the log of a turn of a connection, whose own headers were sent for it, too. */
  continueConnection(call: CallContext, connection: CallLog): void {
    this.#call = { ...call, arrival: this.arrival };
    this.#ownHeaders = connection.#ownHeaders;
  }

  redactAlso(headers: readonly string[]): void {
    this.#ownHeaders = headers;
  }

  /** Notes what was reserved for the call; its end settles it. */
  hold(claims: readonly Claim[], flags: readonly CallFlag[]): void {
    this.#claims = claims;
    this.#budgetFlags = flags;
  }

  addCost(cost: PicoUsd | null): void {
    this.#costOfTurns = cost === null || this.#costOfTurns === null ? null : this.#costOfTurns + cost;
  }

  /** Resolves when the begin is in the spool. If it cannot be, `onFull` decides: go on or reject `log_unavailable`. */
  begin(requested: RequestedModel, bodyFlags: readonly CallFlag[], bodyWaitMs = 0): Promise<void> {
    const { spool, settings } = this.#gateway;
    const begin = this.#admit(requested, bodyFlags);
    return new Promise((resolve, reject) =>
      spool.begin(begin, (isSpooled) => {
        this.#overheadUs = Math.round((performance.now() - this.arrival.monotonicMs - bodyWaitMs) * 1000);
        if (isSpooled || settings.onFull === 'open') resolve();
        else reject(new GatewayError('log_unavailable'));
      }),
    );
  }

  /** A checkpoint becomes the record if the process dies. Calls `done` when it is spooled or lost. */
  checkpoint(answer: AnswerSummary, done: () => void): void {
    const { reported } = answer;
    if (reported === null || this.#call === null) {
      done();
      return;
    }
    const redacted = redactReading(this.#call.headers.secrets, this.#ownHeaders, reported);
    this.#gateway.spool.checkpoint(describeCheckpoint(this.arrival, answer, redacted, performance.now()), done);
  }

  /** Resolves when the ending is spooled or given up; never rejects. An exception of `describe` counts as a loss. */
  end(describe: (call: CallContext, begin: CallBegin) => CallEnding): Promise<void> {
    const { spool, counters, log } = this.#gateway;
    const begin = this.#begin;
    this.#hasEnded = true;
    return new Promise((resolve) => {
      if (this.#call === null || begin === null) {
        resolve();
        return;
      }
      const done = () => {
        counters.inFlight -= 1;
        resolve();
      };
      try {
        const { isUnsent = false, ...ending } = describe(this.#call, begin);
        const { end, bodies } = redactCredentials(this.#call.headers.secrets, this.#ownHeaders, ending);
        if (this.#claims.length === 0) {
          spool.end(begin, end, bodies, done);
          return;
        }
        const cost = this.#readCost(begin, end, isUnsent);
        if (cost === null && end.billedLaterAs !== undefined)
          this.#gateway.budgets?.gate.laterHolds.note(begin, end.billedLaterAs, this.#claims);
        const settled = { ...end, budgetCost: cost === null ? null : formatFlatUsd(cost) };
        // Only when the record is there: should the process die before, the record decides.
        spool.end(begin, settled, bodies, () => {
          this.#settleAs(cost);
          done();
        });
      } catch (error) {
        log.error({ err: error, request_id: begin.id }, 'the record of a call could not be made');
        this.#settleAs(null);
        spool.giveUp(begin);
        done();
      }
    });
  }

  /** Returns false where the call makes no row. The refusal does not wait for its record. */
  endRefused(code: GatewayErrorCode, detail?: string): boolean {
    if (this.#call === null) return false;
    if (this.#hasEnded) return true;
    if (this.#begin === null) this.#admit({ model: null, streamed: null }, []);
    void this.end((call, begin) => ({
      end: describeRejection(call, begin, code, detail, performance.now()),
      bodies: [],
      isUnsent: true,
    }));
    return true;
  }

  release(): void {
    // Only when an exception came between its reservation and its record, where nothing was sent.
    if (!this.#hasEnded) this.#settleAs(0n);
    this.requestCopy.release();
    this.responseCopy.release();
  }

  #admit(requested: RequestedModel, bodyFlags: readonly CallFlag[]): CallBegin {
    if (this.#call === null) throw new Error('a call begins when its key and route are known');
    const { counters } = this.#gateway;
    counters.accepted += 1;
    counters.inFlight += 1;
    const flags = this.#budgetFlags.length === 0 ? bodyFlags : [...bodyFlags, ...this.#budgetFlags];
    this.#begin = describeBegin(this.#call, requested, flags, counters.accepted, this.#claims);
    return this.#begin;
  }

  #readCost(begin: CallBegin, end: CallEnd, isUnsent: boolean): PicoUsd | null {
    const { budgets } = this.#gateway;
    const own = isUnsent || budgets === null ? 0n : addedCost(budgets, begin, end, this.#claims);
    return own === null || this.#costOfTurns === null ? null : own + this.#costOfTurns;
  }

  #settleAs(cost: PicoUsd | null): void {
    if (this.#claims.length === 0) return;
    this.#claims = NO_CLAIMS;
    this.#gateway.budgets?.gate.settle({ callId: this.arrival.id, cost });
  }
}
