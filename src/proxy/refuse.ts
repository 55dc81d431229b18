/**
 * The only place where an error of the gateway's own becomes an answer. One body that every official SDK shows as a
 * readable message; the code stands in `X-Gateway-Error`, which no provider sends.
 */
import { ServerResponse, STATUS_CODES } from 'node:http';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../errors.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { takesNumericCode } from './refusal-shape.ts';

/** Of a body that nobody reads any more, so that the client can read the answer before the connection closes. */
const DRAIN_BYTES = 16 * 1024 * 1024;
const DRAIN_MS = 2_000;
const RETRY_AFTER_SECONDS = 1;
const UPGRADE_REQUIRED = 426;

/** What SDKs of different providers call the same class of error. */
function namesFor(status: number): { type: string; status: string; exception: string } {
  if (status === 401) {
    return { type: 'authentication_error', status: 'UNAUTHENTICATED', exception: 'AccessDeniedException' };
  }
  if (status === 404) return { type: 'not_found_error', status: 'NOT_FOUND', exception: 'ResourceNotFoundException' };
  if (status < 500) {
    return { type: 'invalid_request_error', status: 'INVALID_ARGUMENT', exception: 'ValidationException' };
  }
  if (status === 503 || status === 502 || status === 504) {
    return { type: 'api_error', status: 'UNAVAILABLE', exception: 'ServiceUnavailableException' };
  }
  return { type: 'api_error', status: 'INTERNAL', exception: 'InternalServerException' };
}

/**
 * `detail` is added to the message; it must not hold anything of the request. `isNumeric`: the client is one of
 * Google's, which read the status as the code.
 */
export function refusalBody(code: GatewayErrorCode, id: string, detail?: string, isNumeric = false): string {
  const { status, message: fixed } = GATEWAY_ERRORS[code];
  const names = namesFor(status);
  const message = detail === undefined ? fixed : `${fixed} (${detail})`;
  return JSON.stringify({
    type: 'error',
    message,
    request_id: id,
    error: { type: names.type, message, code: isNumeric ? status : code, param: null, status: names.status },
  });
}

export function refusalHeaders(code: GatewayErrorCode, id: string, bodyBytes: number): string[] {
  const entry: { status: number; retryable?: true; retryAfterSeconds?: number } = GATEWAY_ERRORS[code];
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bodyBytes),
    'Date',
    new Date().toUTCString(),
    'X-Gateway-Error',
    code,
    'X-Gateway-Request-Id',
    id,
    'x-request-id',
    id,
    'request-id',
    id,
    'x-amzn-requestid',
    id,
    'x-amzn-errortype',
    namesFor(entry.status).exception,
  ];
  if (entry.retryable !== true) headers.push('x-should-retry', 'false');
  else if (entry.status === 503) headers.push('Retry-After', String(entry.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  return headers;
}

/** Answers and, when a body is still on its way, closes the connection after draining a little of it. */
export function refuse(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  code: GatewayErrorCode,
  id: string,
  detail?: string,
): void {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return;
  }
  const body = refusalBody(code, id, detail, takesNumericCode(incoming));
  const headers = refusalHeaders(code, id, Buffer.byteLength(body));
  const { status } = GATEWAY_ERRORS[code];
  // The protocol to ask in instead (RFC 9110 15.5.22).
  if (status === UPGRADE_REQUIRED) headers.push('Upgrade', 'HTTP/1.1', 'Connection', 'Upgrade, close');
  else if (!incoming.complete) headers.push('Connection', 'close');
  outgoing.writeHead(status, STATUS_CODES[status] ?? '', headers);
  // `node:http` closes the connection with the end of such an answer. To a client that is still sending this would be a
  // reset, which it sees before it has read anything. Its length tells the client that the answer is whole.
  const { expect, upgrade } = incoming.headers;
  const isClosing = outgoing instanceof ServerResponse && expect === undefined && upgrade === undefined;
  if (incoming.complete || !isClosing) outgoing.end(body);
  else outgoing.write(Buffer.from(body));
  if (!incoming.complete) drain(incoming, () => outgoing.end());
}

/** Takes and drops what is left of the body, or so much of it as there is patience for. */
function drain(incoming: ClientRequest, onDrained: () => void): void {
  let drained = 0;
  const { socket } = incoming;
  const deadline = setTimeout(() => socket.destroy(), DRAIN_MS);
  incoming.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > DRAIN_BYTES) socket.destroySoon();
  });
  incoming.once('end', onDrained);
  incoming.once('close', () => clearTimeout(deadline));
}
