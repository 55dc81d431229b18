/** Ends a call that is not forwarded: its row or attempt for the operator, and the answer. */

import { hideSecretForms } from '../formats/wire/secret-form.ts';
import { hideInTarget } from '../formats/wire/secret-target.ts';
import { readCaller } from '../sockets/read-caller.ts';
import { GatewayError, type GatewayErrorCode } from '../vocabulary/errors.ts';
import type { Arrival } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import type { Gateway } from './gateway.ts';
import { listSent, redactSent } from './redact-sent.ts';
import { readRawHeader } from './refusal-shape.ts';
import { refuse } from './refuse.ts';

const MAX_ATTEMPT_CHARS = 200;
/** User information in front of a target's host. */
const USER_INFO = /^((?:[a-z][a-z0-9+.-]*:)?[/\\]{2})[^/\\]*@/i;
/** Anything else may be a key put there by mistake, and is hidden. */
const PROVIDER_WORD = /^[\w .-]{1,24}$/;

export function refuseCall(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  gateway: Gateway,
  log: CallLog,
  error: unknown,
): void {
  const { arrival } = log;
  const code: GatewayErrorCode = error instanceof GatewayError ? error.code : 'gateway_defect';
  if (code === 'gateway_defect')
    gateway.log.error({ err: error, request_id: arrival.id }, 'a call failed in the gateway');
  countRefusal(gateway, code);
  if (code === 'log_unavailable') gateway.counters.refusedFull += 1;
  const { detail, extras } = error instanceof GatewayError ? error : {};
  if (!log.endRefused(code, detail)) reportAttempt(incoming, gateway, arrival, code);
  refuse(incoming, outgoing, code, arrival.id, detail, extras);
}

export function countRefusal({ counters }: Gateway, code: GatewayErrorCode): void {
  counters.rejected += 1;
  counters.refusals.set(code, (counters.refusals.get(code) ?? 0) + 1);
}

/** Shows the operator an attempt that has no account and makes no row. */
function reportAttempt(incoming: ClientRequest, gateway: Gateway, arrival: Arrival, code: GatewayErrorCode): void {
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  const sent = listSent(incoming.rawHeaders, gateway.headerNames);
  gateway.reportAttempt({
    atMs: arrival.requestedAtMs,
    code,
    status: new GatewayError(code).status,
    method: incoming.method ?? '',
    path: redactSent(hideInTarget(path.replace(USER_INFO, '$1***@'), null), sent).slice(0, MAX_ATTEMPT_CHARS),
    provider: readProvider(incoming),
    userAgent:
      redactSent(hideSecretForms(readRawHeader(incoming, 'user-agent')?.slice(0, MAX_ATTEMPT_CHARS) ?? ''), sent) ||
      null,
    clientAddress:
      gateway.settings.clientAddress === 'keep' ? readCaller(incoming, gateway.trustedPeers).address : null,
  });
}

function readProvider(incoming: ClientRequest): string | null {
  const text = readRawHeader(incoming, 'x-gateway-provider')?.slice(0, MAX_ATTEMPT_CHARS);
  if (text === undefined) return null;
  return PROVIDER_WORD.test(text) ? text : '***';
}
