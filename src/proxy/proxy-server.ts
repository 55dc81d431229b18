/**
 * The listener of a proxy process: HTTP/1.1 by `node:http` with limits of its own, HTTP/2 on the same port (by prior
 * knowledge, or as agreed on in the handshake where the port speaks TLS), the two health addresses, and an answer to everything that is not a request. Every call goes to `handleCall`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as PortServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import type { TlsIdentity } from '../channel.ts';
import { DEFAULT_KEEP_ALIVE_SECONDS } from '../config.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../errors.ts';
import { UnreadSockets } from '../sockets/unread-sockets.ts';
import { asksForWebsocket } from './accept.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { STALL_TIMEOUT_MS } from './client-stall.ts';
import type { Gateway } from './gateway.ts';
import { handleCall } from './handle-call.ts';
import { type ClientError, takeHttp2Socket } from './http2/http2-hand-over.ts';
import { Http2Sessions } from './http2/http2-sessions.ts';
import { LeanRequest } from './lean-request.ts';
import { refusalBody, refusalHeaders, refuse } from './refuse.ts';
import { RequestTurns } from './request-turns.ts';
import {
  createTlsPort,
  HANDSHAKE_LIMITS,
  type HandshakeLimits,
  type TlsPort,
  type TlsPortEvents,
} from './tls/tls-port.ts';
import { handleUpgrade } from './websocket/handle-upgrade.ts';
import { closeGently } from './websocket/held-client.ts';

const HEADERS_TIMEOUT_MS = 30_000;
/** Said in the log at most so often. */
const NOTICE_MS = 60_000;
const MAX_HEADER_BYTES = 64 * 1024;

export interface ServerLimits extends HandshakeLimits {
  /** For the whole head of a request. */
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  /** Between requests; see `TOLLGATE_KEEP_ALIVE_SECONDS`. */
  readonly keepAliveMs: number;
  /** For a client to take something of what waits for it, outside of an open answer, which has its own limit. */
  readonly unreadMs: number;
  readonly unreadSweepMs: number;
  /** Further ones are closed at once. */
  readonly maxConnections: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  checkIntervalMs: 5_000,
  keepAliveMs: DEFAULT_KEEP_ALIVE_SECONDS * 1_000,
  unreadMs: STALL_TIMEOUT_MS + 60_000,
  unreadSweepMs: 30_000,
  maxConnections: 20_000,
  ...HANDSHAKE_LIMITS,
};

/** For a client to close a connection that was ended; Node itself would leave it open for as long as the client likes. */
const CLOSING_MS = 2_000;

export interface ProxyServer {
  /** What listens: `server` itself, or where the port speaks TLS what stands in front of it. */
  readonly port: PortServer;
  readonly server: Server;
  readonly sessions: Http2Sessions;
  /** For new connections; only where the port speaks TLS. */
  readonly renewTls: (identity: TlsIdentity) => void;
}

/** With `tls` the port speaks nothing else. */
export function createProxyServer(
  gateway: Gateway,
  limits: ServerLimits = SERVER_LIMITS,
  tls: TlsIdentity | null = null,
): ProxyServer {
  const server = createServer(
    {
      // Bodies may take as long as they take; a silent client is timed out by the body's own idle limit.
      requestTimeout: 0,
      headersTimeout: limits.headersTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
      keepAlive: true,
      IncomingMessage: LeanRequest,
      // `accept` refuses it, in the form that all refusals have.
      requireHostHeader: false,
      shouldUpgradeCallback,
    },
    onHttp1Request,
  );
  const turns = new RequestTurns();
  /** Requests that offer another protocol, which is left unanswered. */
  const offers = new WeakSet<IncomingMessage>();
  /** The answer to the latest request of a connection. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  // More headers than the limit must be refused, not silently cut off (the default).
  server.maxHeadersCount = 0;
  const unread = new UnreadSockets(limits.unreadMs, limits.unreadSweepMs);
  server.on('connection', (socket) => unread.add(socket));
  server.once('close', () => unread.close());

  function onRequest(incoming: ClientRequest, outgoing: ClientResponse): void {
    if (incoming.method === 'GET' && answerHealth(incoming.url, outgoing, gateway)) return;
    gateway.counters.calls += 1;
    void handleCall(incoming, outgoing, gateway); // It answers every failure itself and never rejects.
  }

  function shouldUpgradeCallback(incoming: IncomingMessage): boolean {
    if (incoming.httpVersion === '1.1' && asksForWebsocket(incoming.headers.upgrade)) return true;
    offers.add(incoming);
    return false;
  }

  function onHttp1Request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const before = latest.get(incoming.socket);
    latest.set(incoming.socket, outgoing);
    // What came behind it in the same packet Node has dropped, and would take the rest of it for a request.
    if (offers.has(incoming)) outgoing.shouldKeepAlive = false;
    turns.take(before, incoming, () => onRequest(incoming, outgoing));
  }

  server.on('upgrade', (incoming: IncomingMessage, _socket: Duplex, head: Buffer) => {
    gateway.counters.calls += 1;
    void handleUpgrade(incoming, head, gateway); // It answers every failure itself and never rejects.
  });
  // The client waits for "100 Continue"; whether it gets it is decided after its key is known.
  server.on('checkContinue', onHttp1Request);
  server.on('checkExpectation', onHttp1Request);
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) => {
    // Node has taken its own listener away, and an error without one would end the process.
    socket.on('error', () => socket.destroy());
    // Nothing may be written into or before an answer that is under way.
    if (latest.get(socket)?.writableFinished === false) socket.destroy();
    else refuseSocket(socket, 'method_unsupported');
  });
  const sessions = new Http2Sessions(
    {
      firstRequestMs: limits.headersTimeoutMs,
      idleMs: limits.keepAliveMs,
      unreadMs: limits.unreadMs,
      unreadSweepMs: limits.unreadSweepMs,
    },
    ({ request, response }, headBytes) => {
      if (headBytes > MAX_HEADER_BYTES) refuse(request, response, 'headers_too_large', uuidv7());
      else onRequest(request, response);
    },
  );
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    const http2Socket = takeHttp2Socket(socket, error);
    if (http2Socket !== null) {
      sessions.add(http2Socket);
      return;
    }
    // Nothing can be said any more on a connection whose encryption has failed.
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
    // Without a listener it would end the process: accepting failed, mostly for want of files. Waiting connections wait.
    if (!port.listening) throw error;
    gateway.log.error({ err: error }, 'a connection could not be accepted');
  });
  return { port, server, sessions, renewTls: (identity) => front?.renew(identity) };

  function openTlsPort(identity: TlsIdentity): TlsPort {
    // It has its connections handed to it, and does not begin to look at their time-outs by itself then.
    server.emit('listening');
    const handshakes: NonNullable<Gateway['handshakes']> = { failed: 0, latest: null };
    gateway.handshakes = handshakes;
    const mayTellOfFailure = createNoticeLimit();
    const events: TlsPortEvents = {
      onHttp1: (socket) => {
        // As `node:http` has its own connections.
        socket.allowHalfOpen = true;
        server.emit('connection', socket);
      },
      onHttp2: (socket) => {
        unread.add(socket);
        sessions.add(socket);
      },
      onPlainHttp: (socket, head) => refusePlainHttp(socket, head, gateway),
      onFailure: (reason) => {
        handshakes.failed += 1;
        handshakes.latest = reason;
        if (mayTellOfFailure()) gateway.log.warn({ reason, failed: handshakes.failed }, 'a TLS handshake failed');
      },
    };
    // Those who only hold handshakes open leave places for others, also where there are few.
    const maxHandshakes = Math.min(limits.maxHandshakes, Math.ceil(limits.maxConnections / 2));
    return createTlsPort(identity, events, { ...limits, maxHandshakes });
  }
}

/**
 * What cannot be read came behind or inside a request whose answer is under way: nothing may be written into or before
 * that answer. True when the connection's ending is taken care of.
 */
function endBehind(answer: ServerResponse, socket: Duplex): boolean {
  if (answer.writableFinished) return false;
  // Without a socket it waits for the answers before it.
  const isItsTurn = answer.socket !== null;
  if (!answer.req.complete) {
    // A body of declared length (a refusal, mostly) is seen to be whole or not, however the connection ends.
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

/** Refuses on a socket that has no response object: the request could not be read. */
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

/** On a port that speaks TLS. Of the request no more is told than its method: keys may be anywhere in it. */
function refusePlainHttp(socket: Socket, head: Buffer, gateway: Gateway): void {
  const code = 'tls_required';
  gateway.counters.rejected += 1;
  gateway.counters.refusals.set(code, (gateway.counters.refusals.get(code) ?? 0) + 1);
  const [method = ''] = head.toString('latin1', 0, head.indexOf(' ')).split(' ', 1);
  gateway.reportAttempt({
    ...{ atMs: gateway.clock.nowMs(), code, status: GATEWAY_ERRORS[code].status },
    ...{ method, path: 'http://…', provider: null, userAgent: null },
  });
  writeRefusal(socket, code);
  closeGently(socket);
}

/** True now and then: what may happen often is not told every time. */
function createNoticeLimit(): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lastMs < NOTICE_MS) return false;
    lastMs = performance.now();
    return true;
  };
}

/** Our side is closed; the client has a moment to close its own, and to read what it was told. */
function endSoon(socket: Duplex): void {
  socket.end();
  const limit = setTimeout(() => socket.destroy(), CLOSING_MS);
  socket.once('close', () => clearTimeout(limit));
}

/**
 * `/healthz`: the process works. `/readyz`: it has its keys, of now where the database answers, and the gateway is not
 * stopping. Neither asks the database.
 */
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
