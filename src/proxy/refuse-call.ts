/** The end of a call that is not forwarded: its row, or the attempt that the operator sees, and the answer. */
import type { CallBegin } from '../call-record.ts';
import { GatewayError, type GatewayErrorCode } from '../errors.ts';
import { readCaller } from '../sockets/read-caller.ts';
import { hideSecretForms } from '../wire/secret-form.ts';
import { hideInTarget } from '../wire/secret-target.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import type { Gateway } from './gateway.ts';
import { hideSent, listSentOf } from './hide-sent.ts';
import { acceptCall, keepEnd, keptAddress } from './keep-call.ts';
import { type Arrival, type CallFacts, describeRejection } from './record.ts';
import { refuse } from './refuse.ts';

const MAX_ATTEMPT_CHARS = 200;
/** Name and password in front of the host of a target that has one. */
const USER_INFO = /^((?:[a-z][a-z0-9+.-]*:)?[/\\]{2})[^/\\]*@/i;
/** What a provider may be called: a key that was put there by mistake is not shown. */
const PROVIDER_WORD = /^[\w .-]{1,24}$/;

/**
 * `error` is a refusal, or a defect of the gateway. `begin` is that of a call that was accepted before it failed;
 * `ended` when even its ending is written, or given up.
 */
export function refuseCall(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  gateway: Gateway,
  arrival: Arrival,
  facts: CallFacts | null,
  begin: CallBegin | 'ended' | null,
  error: unknown,
): void {
  const code: GatewayErrorCode = error instanceof GatewayError ? error.code : 'gateway_defect';
  if (code === 'gateway_defect')
    gateway.log.error({ err: error, request_id: arrival.id }, 'a call failed in the gateway');
  gateway.counters.rejected += 1;
  gateway.counters.refusals.set(code, (gateway.counters.refusals.get(code) ?? 0) + 1);
  if (code === 'log_unavailable') gateway.counters.refusedFull += 1;
  if (facts === null) reportAttempt(incoming, gateway, arrival, code);
  else if (begin !== 'ended') {
    const accepted = begin ?? acceptCall(gateway, facts, { model: null, streamed: null }, facts.headers.flags);
    // The refusal does not wait for its record: it never rejects.
    void keepEnd(gateway, accepted, describeRejection(facts, accepted, code, performance.now()), []);
  }
  refuse(incoming, outgoing, code, arrival.id, error instanceof GatewayError ? error.detail : undefined);
}

/** A refused attempt has no account and makes no row; it is shown to the operator with its reason. */
function reportAttempt(incoming: ClientRequest, gateway: Gateway, arrival: Arrival, code: GatewayErrorCode): void {
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  const sent = listSentOf(incoming.rawHeaders, gateway.headerNames);
  gateway.reportAttempt({
    atMs: arrival.requestedAtMs,
    code,
    status: new GatewayError(code).status,
    method: incoming.method ?? '',
    path: hideSent(hideInTarget(path.replace(USER_INFO, '$1***@'), null), sent).slice(0, MAX_ATTEMPT_CHARS),
    provider: readProvider(incoming),
    userAgent: hideSent(hideSecretForms(readHeader(incoming, 'user-agent') ?? ''), sent) || null,
    clientAddress: keptAddress(gateway, readCaller(incoming, gateway.trustedPeers)),
  });
}

function readProvider(incoming: ClientRequest): string | null {
  const text = readHeader(incoming, 'x-gateway-provider');
  return text === null || PROVIDER_WORD.test(text) ? text : '***';
}

function readHeader({ rawHeaders }: ClientRequest, lower: string): string | null {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === lower);
  return at === -1 ? null : (rawHeaders[at + 1]?.slice(0, MAX_ATTEMPT_CHARS) ?? null);
}
