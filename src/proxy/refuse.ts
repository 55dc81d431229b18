/** Turns the gateway's own errors into answers that every official SDK shows. The code is in `X-Gateway-Error`. */
import { ServerResponse, STATUS_CODES } from 'node:http';
import { GATEWAY_ERRORS, type GatewayErrorCode, messageWithDetail, type RefusalExtras } from '../vocabulary/errors.ts';
import { nameRefusal, writeRefusalBody } from '../vocabulary/refusal-body.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { takesNumericCode } from './refusal-shape.ts';

/** An unread body is drained this far, so that the client can read the answer before the close. */
const DRAIN_BYTES = 16 * 1024 * 1024;
const DRAIN_MS = 2_000;
const RETRY_AFTER_SECONDS = 1;
const UPGRADE_REQUIRED = 426;

/** `detail` must not hold anything of the request. `isNumeric`: Google's clients read the status as the code. */
export function refusalBody(
  code: GatewayErrorCode,
  id: string,
  detail?: string,
  isNumeric = false,
  details?: RefusalExtras['details'],
): string {
  const { status } = GATEWAY_ERRORS[code];
  return writeRefusalBody({ status, code, message: messageWithDetail(code, detail) }, id, isNumeric, details);
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
    nameRefusal(entry.status).exception,
  ];
  if (entry.retryable !== true) headers.push('x-should-retry', 'false');
  else if (entry.status === 503) headers.push('Retry-After', String(entry.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  return headers;
}

/** Answers, and closes the connection after draining a body that is still coming. */
export function refuse(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  code: GatewayErrorCode,
  id: string,
  detail?: string,
  extras?: RefusalExtras,
): void {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return;
  }
  const body = refusalBody(code, id, detail, takesNumericCode(incoming), extras?.details);
  const headers = refusalHeaders(code, id, Buffer.byteLength(body));
  if (extras !== undefined) headers.push(...extras.headers);
  const { status } = GATEWAY_ERRORS[code];
  // RFC 9110 15.5.22: names the protocol to use instead.
  if (status === UPGRADE_REQUIRED) headers.push('Upgrade', 'HTTP/1.1', 'Connection', 'Upgrade, close');
  else if (!incoming.complete) headers.push('Connection', 'close');
  outgoing.writeHead(status, STATUS_CODES[status] ?? '', headers);
  // `node:http` closes with the end of such an answer, which resets a client that still sends before it has read. So
  // the end waits; the length tells that the answer is whole.
  const { expect, upgrade } = incoming.headers;
  const isClosing = outgoing instanceof ServerResponse && expect === undefined && upgrade === undefined;
  if (incoming.complete || !isClosing) outgoing.end(body);
  else outgoing.write(Buffer.from(body));
  if (!incoming.complete) drain(incoming, () => outgoing.end());
}

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
