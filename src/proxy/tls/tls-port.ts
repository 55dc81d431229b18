/**
 * TLS in front of the listener of a proxy process: takes each connection through its handshake, within limits, and hands
 * it on as HTTP/1.1 or HTTP/2, whichever the two sides agreed on (ALPN). It knows no request: what comes out is a socket
 * like any other. A client that speaks plain HTTP is told so in plain HTTP.
 */
import { constants } from 'node:crypto';
import { createServer, type Server, Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { TlsIdentity } from '../../channel.ts';

/** From the connection to the end of its handshake, at whatever pace its bytes come. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Connections in the middle of their handshake; beyond it the oldest gives way, which an honest client is not. */
const MAX_OPEN_HANDSHAKES = 1_000;
/** The first byte of a TLS record that begins a handshake (RFC 8446 5.1). */
const HANDSHAKE_RECORD = 22;
/** HTTP/1.1 begins with a method, and so does the preface of HTTP/2. */
const METHOD = /^[A-Z-]{1,20} /;
const METHOD_BYTES = 24;

export interface HandshakeLimits {
  readonly handshakeMs: number;
  readonly maxHandshakes: number;
}

export const HANDSHAKE_LIMITS: HandshakeLimits = {
  handshakeMs: HANDSHAKE_TIMEOUT_MS,
  maxHandshakes: MAX_OPEN_HANDSHAKES,
};

export interface TlsPortEvents {
  readonly onHttp1: (socket: TLSSocket) => void;
  readonly onHttp2: (socket: TLSSocket) => void;
  /** It is paused, and `head` is what it has sent so far. */
  readonly onPlainHttp: (socket: Socket, head: Buffer) => void;
  /** In OpenSSL's words, which are no client's. */
  readonly onFailure: (reason: string) => void;
}

export interface TlsPort {
  /** What listens. */
  readonly server: Server;
  /** For connections from now on; the others keep what they have. */
  readonly renew: (identity: TlsIdentity) => void;
}

export function createTlsPort(identity: TlsIdentity, events: TlsPortEvents, limits: HandshakeLimits): TlsPort {
  /** Until when, by the connection as the system has it; the oldest first. */
  const open = new Map<Socket, NodeJS.Timeout>();
  // It never listens: connections are given to it when their first byte is that of a handshake.
  const tls = createTlsServer({ ...optionsOf(identity), ALPNProtocols: ['h2', 'http/1.1'] });

  /** False when it was settled before. */
  function settle(raw: Socket): boolean {
    clearTimeout(open.get(raw));
    return open.delete(raw);
  }

  function fail(raw: Socket, reason: string): void {
    if (settle(raw)) events.onFailure(reason);
    raw.destroy();
  }

  function onConnection(raw: Socket): void {
    const timer = setTimeout(() => fail(raw, 'handshake timeout'), limits.handshakeMs);
    open.set(raw, timer);
    const [oldest] = open.keys();
    if (open.size > limits.maxHandshakes && oldest !== undefined) fail(oldest, 'too many handshakes at once');
    raw.on('error', () => raw.destroy());
    // Who comes and goes without a word, as some health checks do, has not failed.
    raw.once('close', () => settle(raw));
    raw.once('data', (head: Buffer) => {
      raw.pause();
      if (head[0] === HANDSHAKE_RECORD) {
        raw.unshift(head);
        tls.emit('connection', raw);
      } else if (METHOD.test(head.toString('latin1', 0, METHOD_BYTES))) {
        settle(raw);
        events.onPlainHttp(raw, head);
      } else fail(raw, 'not tls');
    });
  }

  tls.on('tlsClientError', (error: ClientError, socket) => fail(rawOf(socket), reasonOf(error)));
  tls.on('secureConnection', (socket) => {
    const raw = rawOf(socket);
    settle(raw);
    // Node resets sockets of the system's only.
    socket.resetAndDestroy = () => {
      raw.resetAndDestroy();
      return socket;
    };
    if (socket.alpnProtocol === 'h2') events.onHttp2(socket);
    else events.onHttp1(socket);
  });
  const server = createServer({ noDelay: true, keepAlive: true }, onConnection);
  return { server, renew: (next) => tls.setSecureContext(optionsOf(next)) };
}

interface ClientError extends Error {
  readonly code?: string;
  /** OpenSSL's, where it is an error of its. */
  readonly reason?: string;
}

function reasonOf({ code, reason }: ClientError): string {
  return reason ?? code ?? 'unknown';
}

/** The socket below; an inside of Node, and the tests of TLS tell when it has changed. */
function rawOf(socket: TLSSocket): Socket {
  const raw: unknown = Reflect.get(socket, '_parent');
  return raw instanceof Socket ? raw : socket;
}

/** Node's own choice of ciphers and curves; TLS 1.2 or newer, whatever Node's command line says. */
function optionsOf({ cert, key, ticketKeys }: TlsIdentity) {
  return {
    ...({ cert, key, minVersion: 'TLSv1.2', ticketKeys: Buffer.from(ticketKeys, 'base64') } as const),
    // A client of TLS 1.2 could ask for one handshake after the other, each of which costs us more than it.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}
