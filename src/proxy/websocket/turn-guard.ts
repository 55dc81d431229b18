/**
 * Reserves for each turn of a Responses websocket before its request is passed on, where budgets may refuse it. The turn's
 * record takes what was reserved over.
 */
import { Receiver } from 'ws';
import { beginsTurn } from '../../formats/usage/responses-session.ts';
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import type { ProxyBudgets } from '../budget/proxy-budgets.ts';
import type { Arrival, CallContext } from '../call-context.ts';
import { noteArrival } from '../call-log.ts';
import type { Gateway } from '../gateway.ts';
import { refusalBody } from '../refuse.ts';
import { type Reserved, reserveIn } from '../reserve.ts';
import { type ClientGuard, type ClientRefusal, MAX_MESSAGE_BYTES } from './model-guard.ts';
import { readRunMembersOf } from './turn-place.ts';

const MAX_FRAGMENTS = 16 * 1024;

export interface ReservedTurn extends Reserved {
  readonly arrival: Arrival;
}

export interface TurnGuard {
  readonly guard: ClientGuard;
  /** To be called when the chunk that the guard saw last goes to the provider, before its turns begin. */
  readonly notePassed: () => void;
  /** For the next turn that begins: each request begins one. Undefined where it comes under no budget. */
  readonly take: () => ReservedTurn | undefined;
  /** What no turn has taken counts as spent where its request was passed on, and as nothing where it was not. */
  readonly close: () => void;
}

/** The connection must have no extensions: what is compressed is read too late. */
export function createTurnGuard(gateway: Gateway, budgets: ProxyBudgets, call: CallContext): TurnGuard {
  /** Of the chunk at hand, which may still be withheld. */
  const pending: ReservedTurn[] = [];
  const reserved: ReservedTurn[] = [];
  let refusal: ClientRefusal | null = null;
  let isClosed = false;
  /** Requests that the chunk at hand has made whole. */
  const requests: Buffer[] = [];
  const receiver = new Receiver({
    isServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    skipUTF8Validation: true,
  });
  receiver.on('message', (data) => {
    if (refusal === null && beginsTurn(data)) requests.push(data);
  });
  receiver.on('error', () => {
    refusal ??= { code: 'budget_exceeded', lastWords: null };
  });

  /** One after another, since the later one may be refused for the earlier one. A promise where one has to wait. */
  function judge(): ClientRefusal | null | Promise<ClientRefusal | null> {
    while (refusal === null) {
      const message = requests.shift();
      if (message === undefined) break;
      const reserving = reserve(message);
      if (reserving !== null) return reserving.then(judge);
    }
    if (refusal !== null) dropPending();
    return refusal;
  }

  /** Null: done. The promise never rejects. */
  function reserve(message: Buffer): Promise<void> | null {
    const { members } = scanTopLevel(message, ['model']);
    const model = members.get('model')?.scalar;
    const arrival = noteArrival(gateway);
    const runMembers = readRunMembersOf(message, call);
    const asked = { model: typeof model === 'string' ? model : null, streamed: true };
    const requested = runMembers === null ? asked : { ...asked, runMembers };
    try {
      const reserving = reserveIn({ ...call, arrival }, requested, message, budgets);
      if (reserving instanceof Promise)
        return reserving.then(
          (late) => keep(arrival, late),
          (error: unknown) => refuse(arrival, error),
        );
      keep(arrival, reserving);
    } catch (error) {
      refuse(arrival, error);
    }
    return null;
  }

  function keep(arrival: Arrival, { claims, flags }: Reserved): void {
    if (isClosed) budgets.gate.settle({ callId: arrival.id, cost: 0n });
    else pending.push({ arrival, claims, flags });
  }

  function dropPending(): void {
    for (const { arrival } of pending.splice(0)) budgets.gate.settle({ callId: arrival.id, cost: 0n });
  }

  function refuse(arrival: Arrival, error: unknown): void {
    const code = error instanceof GatewayError ? error.code : 'gateway_defect';
    if (code === 'gateway_defect')
      gateway.log.error({ err: error, request_id: arrival.id }, 'a turn failed in the gateway');
    const detail = error instanceof GatewayError ? error.detail : undefined;
    refusal = { code: 'budget_exceeded', lastWords: refusalBody(code, arrival.id, detail) };
  }

  return {
    guard: (chunk) => {
      // Unmasks in place; what is relayed stays masked. Nothing follows a close frame.
      if (refusal === null && !receiver.writableEnded) receiver.write(Buffer.from(chunk));
      return judge();
    },
    notePassed: () => {
      reserved.push(...pending.splice(0));
    },
    take: () => reserved.shift(),
    close: () => {
      isClosed = true;
      dropPending();
      for (const { arrival } of reserved.splice(0)) budgets.gate.settle({ callId: arrival.id, cost: null });
    },
  };
}
