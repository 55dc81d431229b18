/** Step: takes a place for the call within every limit that it comes under, or refuses it. */
import { GatewayError } from '../../vocabulary/errors.ts';
import { type Credits, type Limit, type LimitRefusal, NO_CREDITS } from '../../vocabulary/limit.ts';
import { countTokens, type ReportedUsage } from '../../vocabulary/token-usage.ts';
import type { CallContext } from '../call-context.ts';
import type { Gateway } from '../gateway.ts';
import type { ReceivedBody } from '../receive-body.ts';
import type { Booking, LimitPurses, Taken } from './limit-purses.ts';
import { type LimitedSubject, listSubjects } from './list-subjects.ts';
import { describeLimit } from './rate-headers.ts';

/** A rough mean of text; what was used is counted when the call has ended. */
const BYTES_PER_TOKEN = 4;

type LimitGateway = Pick<Gateway, 'keys' | 'limits' | 'clock'>;

/** Null for a call without limits. Throws, or rejects, `rate_limit_exceeded` or `concurrency_limit_exceeded`. */
export function takePlace(
  call: CallContext,
  received: ReceivedBody,
  gateway: LimitGateway,
): Place | null | Promise<Place> {
  return take(call, gateway, 1, estimateTokens(call, received));
}

/** Of a turn on a websocket, which has the slot: one request. */
export function takeTurn(call: CallContext, gateway: LimitGateway): Place | null | Promise<Place> {
  return take(call, gateway, 0, 1);
}

function take(call: CallContext, gateway: LimitGateway, slots: number, tokens: number): Place | null | Promise<Place> {
  const { limits, keys, clock } = gateway;
  const subjects = listSubjects(call.key, call.headers.metadata, keys.snapshot);
  if (subjects.length === 0 || limits === null) return null;
  const place = new Place(call, subjects, limits, clock.nowMs);
  const taking = place.take({ slots, requests: 1, tokens });
  return taking === null ? place : taking.then(() => place);
}

function estimateTokens({ request, route }: CallContext, received: ReceivedBody): number {
  if (!route.endpoint.billed) return 0;
  const bytes = received.kind === 'held' ? received.bytes.length : (request.contentLength ?? 0);
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** What a call, a websocket or a turn has taken, until it is released. */
export class Place {
  readonly #call: CallContext;
  readonly #subjects: readonly LimitedSubject[];
  readonly #purses: LimitPurses;
  readonly #wallMs: () => number;
  #bookings: Booking[] = [];

  constructor(call: CallContext, subjects: readonly LimitedSubject[], purses: LimitPurses, wallMs: () => number) {
    this.#call = call;
    this.#subjects = subjects;
    this.#purses = purses;
    this.#wallMs = wallMs;
  }

  /** Null when all was there. Where one limit refuses, the others are given back. */
  take(need: Credits): Promise<void> | null {
    for (const [index, subject] of this.#subjects.entries()) {
      const taken = this.#purses.take(subject.subject, subject.limit, needOf(subject.limit, need));
      if (taken instanceof Promise) return this.#takeRest(index, taken, need);
      this.#bookings.push(taken);
    }
    return null;
  }

  /** What the call has used, where that is known; else its estimate stands. Call it once, before `release`. */
  settle(reported: ReportedUsage | null): void {
    const usage = reported?.usage ?? null;
    if (usage === null) return;
    const used = countTokens(usage);
    for (const { subject, credits } of this.#bookings)
      if (credits.tokens > 0 && credits.tokens !== used)
        this.#purses.give(subject, { ...NO_CREDITS, tokens: credits.tokens - used });
  }

  release(): void {
    for (const { subject, credits } of this.#bookings.splice(0))
      if (credits.slots > 0) this.#purses.give(subject, { ...NO_CREDITS, slots: credits.slots });
  }

  async #takeRest(from: number, first: Promise<Taken>, need: Credits): Promise<void> {
    let taking: Booking | Promise<Taken> = first;
    for (let index = from; ; ) {
      const taken: Taken = await taking;
      const subject = this.#subjects[index];
      if (taken !== null && 'kind' in taken) {
        this.#giveAll();
        if (subject !== undefined) throw this.#refusal(subject, taken);
      } else if (taken !== null) this.#bookings.push(taken);
      index += 1;
      const next = this.#subjects[index];
      if (next === undefined) return;
      taking = this.#purses.take(next.subject, next.limit, needOf(next.limit, need));
    }
  }

  #giveAll(): void {
    for (const { subject, credits } of this.#bookings.splice(0)) this.#purses.give(subject, credits);
  }

  #refusal({ whose, change }: LimitedSubject, refusal: LimitRefusal): GatewayError {
    const { kind, limit, retryAfterMs } = refusal;
    const what = kind === 'slots' ? `${limit} calls at once` : `${limit} ${kind} a minute`;
    const wait = kind === 'slots' ? 'when one of them has ended' : `in ${Math.ceil(retryAfterMs / 1_000)} s`;
    return new GatewayError(kind === 'slots' ? 'concurrency_limit_exceeded' : 'rate_limit_exceeded', {
      detail: `${whose}: ${what} on this node; the next one passes ${wait}; \`tollgate ${change}\` changes it`,
      extras: describeLimit(this.#call.route.provider.errorFamily, refusal, this.#wallMs()),
    });
  }
}

/** What a limit does not count is not taken of it. */
function needOf(limit: Limit, need: Credits): Credits {
  return {
    slots: limit.concurrent === undefined ? 0 : need.slots,
    requests: limit.requestsPerMinute === undefined ? 0 : need.requests,
    tokens: limit.tokensPerMinute === undefined ? 0 : need.tokens,
  };
}
