/**
 * Reserves for each turn of a Responses websocket before its request is passed on, where budgets may refuse it. The turn's
 * record takes what was reserved over.
 */
import { Receiver } from 'ws';
import type { Claim } from '../../budgets/ledger.ts';
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import type { CallFlag } from '../../vocabulary/token-usage.ts';
import type { ProxyBudgets } from '../budget/proxy-budgets.ts';
import type { Arrival, CallContext } from '../call-context.ts';
import { noteArrival } from '../call-log.ts';
import type { Gateway } from '../gateway.ts';
import { refusalBody } from '../refuse.ts';
import { reserveNow } from '../reserve.ts';
import { type ClientGuard, MAX_MESSAGE_BYTES } from './model-guard.ts';
import { readRunMembersOf } from './turn-place.ts';

const MAX_FRAGMENTS = 16 * 1024;
const CREATE = '"response.create"';

export interface ReservedTurn {
  readonly arrival: Arrival;
  readonly claims: readonly Claim[];
  readonly flags: readonly CallFlag[];
}

export interface TurnGuard {
  readonly guard: ClientGuard;
  /** For the next turn that begins: each request begins one. Undefined where it comes under no budget. */
  readonly take: () => ReservedTurn | undefined;
  /** Requests that no turn has taken; what they hold counts as spent. */
  readonly close: () => void;
}

/** The connection must have no extensions: what is compressed is read too late. */
export function createTurnGuard(gateway: Gateway, budgets: ProxyBudgets, call: CallContext): TurnGuard {
  const reserved: ReservedTurn[] = [];
  let refusal: ReturnType<ClientGuard> = null;
  const receiver = new Receiver({
    isServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    skipUTF8Validation: true,
  });
  receiver.on('message', (data) => {
    if (refusal === null && data.includes(CREATE)) reserve(data);
  });
  receiver.on('error', () => {
    refusal ??= { code: 'budget_exceeded', lastWords: null };
  });

  function reserve(message: Buffer): void {
    const { members } = scanTopLevel(message, ['type', 'model']);
    if (members.get('type')?.scalar !== 'response.create') return;
    const model = members.get('model')?.scalar;
    const arrival = noteArrival(gateway);
    const runMembers = readRunMembersOf(message, call);
    const asked = { model: typeof model === 'string' ? model : null, streamed: true };
    const requested = runMembers === null ? asked : { ...asked, runMembers };
    try {
      reserved.push({ arrival, ...reserveNow({ ...call, arrival }, requested, message, budgets) });
    } catch (error) {
      const code = error instanceof GatewayError ? error.code : 'gateway_defect';
      if (code === 'gateway_defect')
        gateway.log.error({ err: error, request_id: arrival.id }, 'a turn failed in the gateway');
      const detail = error instanceof GatewayError ? error.detail : undefined;
      refusal = { code: 'budget_exceeded', lastWords: refusalBody(code, arrival.id, detail) };
    }
  }

  return {
    guard: (chunk) => {
      // Unmasks in place; what is relayed stays masked. Nothing follows a close frame.
      if (refusal === null && !receiver.writableEnded) receiver.write(Buffer.from(chunk));
      return refusal;
    },
    take: () => reserved.shift(),
    close: () => {
      for (const { arrival } of reserved.splice(0)) budgets.gate.settle({ callId: arrival.id, cost: null });
    },
  };
}
