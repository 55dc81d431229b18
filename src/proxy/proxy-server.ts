/**
 * The listener of a proxy process: HTTP/1.1 by `node:http`, HTTP/2 on the same port, the health addresses, and a
 * refusal for what is not a request. Calls go to `handleCall`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as PortServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { StalledSockets } from '../sockets/stalled-sockets.ts';
import type { TlsIdentity } from '../vocabulary/channel.ts';
import { DEFAULT_KEEP_ALIVE_SECONDS } from '../vocabulary/config.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../vocabulary/errors.ts';
import { cutAddressToken } from './address-token.ts';
import { createCallSteps } from './call-steps.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { STALL_TIMEOUT_MS } from './client-stall.ts';
import type { Gateway } from './gateway.ts';
import { handleCall } from './handle-call.ts';
import { type ClientError, takeHttp2Socket } from './http2/http2-hand-over.ts';
import { Http2Sessions } from './http2/http2-sessions.ts';
import { IdleConnections } from './idle-connections.ts';
import { LeanRequest } from './lean-request.ts';
import { PipelinedRequests } from './pipelined-requests.ts';
import { refusalBody, refusalHeaders, refuse } from './refuse.ts';
import { countRefusal } from './refuse-call.ts';
import {
  createTlsPort,
  HANDSHAKE_LIMITS,
  type HandshakeLimits,
  type TlsPort,
  type TlsPortEvents,
} from './tls/tls-port.ts';
import { asksForWebsocket } from './validate-request.ts';
import { handleUpgrade } from './websocket/handle-upgrade.ts';
import { closeGently } from './websocket/pending-client.ts';

/** Least time between two equal log lines. */
const NOTICE_MS = 60_000;
const MAX_HEADER_BYTES = 64 * 1024;

export interface ServerLimits extends HandshakeLimits {
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** How long a client may read nothing outside of an open answer. */
  readonly stalledMs: number;
  readonly stalledSweepMs: number;
  readonly maxConnections: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 30_000,
  checkIntervalMs: 5_000,
  keepAliveMs: DEFAULT_KEEP_ALIVE_SECONDS * 1_000,
  stalledMs: STALL_TIMEOUT_MS + 60_000,
  stalledSweepMs: 30_000,
  maxConnections: 20_000,
  ...HANDSHAKE_LIMITS,
};

/** A client has this long to close an ended connection; Node would wait without limit. */
const CLOSING_MS = 2_000;

export interface ProxyServer {
  /** `server`, or what stands in front of it where the port speaks TLS. */
  readonly port: PortServer;
  readonly server: Server;
  readonly sessions: Http2Sessions;
  /** The connections of HTTP/1.1. */
  readonly connections: IdleConnections;
  /** All connections, of both protocols. */
  readonly stalled: StalledSockets;
  readonly renewTls: (identity: TlsIdentity) => void;
}

export function createProxyServer(
  gateway: Gateway,
  limits: ServerLimits = SERVER_LIMITS,
  tls: TlsIdentity | null = null,
): ProxyServer {
  const server = createServer(
    {
      // Bodies have an idle limit of their own.
      requestTimeout: 0,
      headersTimeout: limits.headersTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
      keepAlive: true,
      IncomingMessage: LeanRequest,
      // `validateRequest` refuses it in the gateway's own form.
      requireHostHeader: false,
      shouldUpgradeCallback,
    },
    onHttp1Request,
  );
  const steps = createCallSteps(gateway.stepTimes);
  const pipelined = new PipelinedRequests();
  /** Requests whose offer of another protocol is left unanswered. */
  const offers = new WeakSet<IncomingMessage>();
  /** The latest answer of each connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  // Too many headers must be refused; the default silently drops them.
  server.maxHeadersCount = 0;
  const stalled = new StalledSockets(limits.stalledMs, limits.stalledSweepMs);
  const connections = new IdleConnections(latest);
  server.on('connection', (socket) => {
    stalled.add(socket);
    connections.add(socket);
  });
  server.once('close', () => stalled.close());

  function onRequest(incoming: ClientRequest, outgoing: ClientResponse): void {
    cutAddressToken(incoming);
    if (incoming.method === 'GET' && answerHealth(incoming.url, outgoing, gateway)) return;
    gateway.counters.calls += 1;
    void handleCall(incoming, outgoing, gateway, steps); // It answers every failure itself and never rejects.
  }

  function shouldUpgradeCallback(incoming: IncomingMessage): boolean {
    if (incoming.httpVersion === '1.1' && asksForWebsocket(incoming.headers.upgrade)) return true;
    offers.add(incoming);
    return false;
  }

  function onHttp1Request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const before = latest.get(incoming.socket);
    latest.set(incoming.socket, outgoing);
    // Node has dropped what followed in the same packet and would misread the rest.
    if (offers.has(incoming)) outgoing.shouldKeepAlive = false;
    pipelined.take(before, incoming, () => onRequest(incoming, outgoing));
  }

  server.on('upgrade', (incoming: IncomingMessage, _socket: Duplex, head: Buffer) => {
    connections.forget(incoming.socket);
    cutAddressToken(incoming);
    gateway.counters.calls += 1;
    void handleUpgrade(incoming, head, gateway); // It answers every failure itself and never rejects.
  });
  // A client that waits for "100 Continue" gets it after its key is known.
  server.on('checkContinue', onHttp1Request);
  server.on('checkExpectation', onHttp1Request);
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    connections.forget(incoming.socket);
    // Node removed its own listener, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    if (latest.get(socket)?.writableFinished === false) socket.destroy();
    else refuseSocket(socket, 'method_unsupported');
  });
  const sessions = new Http2Sessions(
    {
      firstRequestMs: limits.headersTimeoutMs,
      idleMs: limits.keepAliveMs,
      stalledMs: limits.stalledMs,
      stalledSweepMs: limits.stalledSweepMs,
    },
    ({ request, response }, headBytes) => {
      if (headBytes > MAX_HEADER_BYTES) refuse(request, response, 'headers_too_large', uuidv7());
      else onRequest(request, response);
    },
  );
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    const http2Socket = takeHttp2Socket(socket, error);
    if (http2Socket !== null) {
      connections.forget(http2Socket);
      stalled.add(http2Socket); // Its listener for the end went with those of `node:http`.
      sessions.add(http2Socket);
      return;
    }
    // Nothing can be sent after the encryption has failed.
    if (!socket.writable || error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL_') === true) {
      socket.destroy();
      return;
    }
    const answer = latest.get(socket);
    if (answer === undefined || !endBehind(answer, socket)) refuseSocket(socket, clientErrorCode(error.code));
  });
  const front = tls === null ? null : openTlsPort(tls);
  const port: PortServer = front?.server ?? server;
  port.maxConnections = limits.maxConnections;
  const mayTellOfDrop = createNoticeLimit();
  port.on('drop', () => {
    gateway.counters.droppedConnections += 1;
    if (!mayTellOfDrop()) return;
    const figures = { limit: limits.maxConnections, dropped: gateway.counters.droppedConnections };
    gateway.log.warn(figures, 'too many connections; new ones are closed until others end');
  });
  port.on('error', (error) => {
    // Accepting failed, mostly for want of files; without a listener that would end the process.
    if (!port.listening) throw error;
    gateway.log.error({ err: error }, 'a connection could not be accepted');
  });
  return { port, server, sessions, connections, stalled, renewTls: (identity) => front?.renew(identity) };

  function openTlsPort(identity: TlsIdentity): TlsPort {
    // `server` never listens itself, and starts its time-out checks on this event.
    server.emit('listening');
    const handshakes: NonNullable<Gateway['handshakes']> = { failed: 0, latest: null };
    gateway.handshakes = handshakes;
    const mayTellOfFailure = createNoticeLimit();
    const events: TlsPortEvents = {
      onHttp1: (socket) => {
        socket.allowHalfOpen = true;
        server.emit('connection', socket);
      },
      onHttp2: (socket) => {
        stalled.add(socket);
        sessions.add(socket);
      },
      onPlainHttp: (socket, head) => refusePlainHttp(socket, head, gateway),
      onFailure: (reason) => {
        handshakes.failed += 1;
        handshakes.latest = reason;
        if (mayTellOfFailure()) gateway.log.warn({ reason, failed: handshakes.failed }, 'a TLS handshake failed');
      },
    };
    // Open handshakes must leave places for real connections.
    const maxHandshakes = Math.min(limits.maxHandshakes, Math.ceil(limits.maxConnections / 2));
    return createTlsPort(identity, events, { ...limits, maxHandshakes });
  }
}

/** For unreadable bytes in or behind a request whose answer is under way. True when the ending is taken care of. */
function endBehind(answer: ServerResponse, socket: Duplex): boolean {
  if (answer.writableFinished) return false;
  // An answer without a socket waits for earlier ones.
  const isItsTurn = answer.socket !== null;
  if (!answer.req.complete) {
    // A declared length shows the client whether the body is whole, however the connection ends.
    const hasLength = answer.headersSent && !answer.chunkedEncoding && answer.req.httpVersionMinor > 0;
    if (answer.writableEnded || (hasLength && isItsTurn)) endSoon(socket);
    else if (answer.headersSent || !isItsTurn) socket.destroy();
    else return false;
    return true;
  }
  if (answer.writableEnded && isItsTurn) {
    if (answer.shouldKeepAlive) return false;
    endSoon(socket);
    return true;
  }
  answer.shouldKeepAlive = false;
  answer.once('finish', () => endSoon(socket));
  return true;
}

function clientErrorCode(code: string | undefined): GatewayErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'request_malformed';
}

/** Refuses without a response object, since the request could not be read. */
function refuseSocket(socket: Duplex, code: GatewayErrorCode): void {
  writeRefusal(socket, code);
  endSoon(socket);
}

function writeRefusal(socket: Duplex, code: GatewayErrorCode): void {
  const id = uuidv7();
  const body = refusalBody(code, id);
  const headers = refusalHeaders(code, id, Buffer.byteLength(body));
  const { status } = GATEWAY_ERRORS[code];
  let head = `HTTP/1.1 ${status} ${code}\r\nConnection: close\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  socket.write(`${head}\r\n${body}`);
}

/** Reports only the method, since keys may be anywhere in the request. */
function refusePlainHttp(socket: Socket, head: Buffer, gateway: Gateway): void {
  const code = 'tls_required';
  countRefusal(gateway, code);
  const [method = ''] = head.toString('latin1', 0, head.indexOf(' ')).split(' ', 1);
  gateway.reportAttempt({
    atMs: gateway.clock.nowMs(),
    code,
    status: GATEWAY_ERRORS[code].status,
    method,
    path: 'http://…',
    provider: null,
    userAgent: null,
  });
  writeRefusal(socket, code);
  closeGently(socket);
}

/** Limits a frequent notice to one in `NOTICE_MS`. */
function createNoticeLimit(): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lastMs < NOTICE_MS) return false;
    lastMs = performance.now();
    return true;
  };
}

/** Closes our side and gives the client a moment to read and close its own. */
function endSoon(socket: Duplex): void {
  socket.end();
  const limit = setTimeout(() => socket.destroy(), CLOSING_MS);
  socket.once('close', () => clearTimeout(limit));
}

/** `/healthz`: the process works. `/readyz`: it has current keys and is not stopping. Neither asks the database. */
function answerHealth(url: string | undefined, outgoing: ClientResponse, gateway: Gateway): boolean {
  if (url !== '/healthz' && url !== '/readyz') return false;
  const isStopping = gateway.isDraining && gateway.isReplaced !== true;
  const hasKeys = gateway.keys.snapshot !== null && gateway.areKeysOld !== true;
  const isReady = url === '/healthz' || (hasKeys && !isStopping);
  if (gateway.isDraining) outgoing.shouldKeepAlive = false;
  const status = isReady ? 200 : 503;
  outgoing.writeHead(status, STATUS_CODES[status] ?? '', ['content-type', 'application/json']);
  outgoing.end(isReady ? '{"status":"ok"}' : '{"status":"unavailable"}');
  return true;
}
