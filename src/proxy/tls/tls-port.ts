/** Terminates TLS in front of the listener, within limits, and passes sockets on as HTTP/1.1 or HTTP/2 (ALPN). */
import { constants } from 'node:crypto';
import { createServer, type Server, Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { TlsIdentity } from '../../vocabulary/channel.ts';

/** First byte of a TLS handshake record (RFC 8446 5.1). */
const HANDSHAKE_RECORD = 22;
/** HTTP/1.1 and HTTP/2's preface begin with a method. */
const METHOD = /^[A-Z-]{1,20} /;
const METHOD_BYTES = 24;

export interface HandshakeLimits {
  /** For a whole handshake. */
  readonly handshakeMs: number;
  /** Concurrent ones; beyond it the oldest is closed, which is no honest client's. */
  readonly maxHandshakes: number;
}

export const HANDSHAKE_LIMITS: HandshakeLimits = { handshakeMs: 10_000, maxHandshakes: 1_000 };

export interface TlsPortEvents {
  readonly onHttp1: (socket: TLSSocket) => void;
  readonly onHttp2: (socket: TLSSocket) => void;
  /** The socket is paused; `head` is what it sent so far. */
  readonly onPlainHttp: (socket: Socket, head: Buffer) => void;
  /** OpenSSL's words, which contain nothing of the client's. */
  readonly onFailure: (reason: string) => void;
}

export interface TlsPort {
  readonly server: Server;
  /** Applies to new connections. */
  readonly renew: (identity: TlsIdentity) => void;
}

export function createTlsPort(identity: TlsIdentity, events: TlsPortEvents, limits: HandshakeLimits): TlsPort {
  /** Deadlines of open handshakes, oldest first. */
  const open = new Map<Socket, NodeJS.Timeout>();
  // It never listens; TLS connections are passed to it.
  const tls = createTlsServer({ ...optionsOf(identity), ALPNProtocols: ['h2', 'http/1.1'] });

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
    // Some health checks connect and say nothing; that is no failure.
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
    // Node can reset only the underlying socket.
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
  readonly reason?: string;
}

function reasonOf({ code, reason }: ClientError): string {
  return reason ?? code ?? 'unknown';
}

/** The underlying socket; an internal of Node, covered by the TLS tests. */
function rawOf(socket: TLSSocket): Socket {
  const raw: unknown = Reflect.get(socket, '_parent');
  return raw instanceof Socket ? raw : socket;
}

/** Node's default ciphers and curves, at least TLS 1.2. */
function optionsOf({ cert, key, ticketKeys }: TlsIdentity) {
  return {
    ...({ cert, key, minVersion: 'TLSv1.2', ticketKeys: Buffer.from(ticketKeys, 'base64') } as const),
    // Renegotiation costs the server more than the client.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}
