/** Opens connections to one origin: TCP, TLS, and the egress proxy where there is one. */
import { connect, isIP, type LookupFunction, type OnReadOpts, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { openTunnel, proxyAuthorization } from './open-tunnel.ts';
import { UpstreamError } from './upstream-failure.ts';
import type { Hop } from './upstream-request.ts';

/** First keep-alive probe, to notice a dead path. */
const TCP_PROBE_MS = 60_000;

/** Receives a socket's bytes; the buffer is reused once `onRead` returns. */
export interface SharedReading {
  readonly buffer: Uint8Array;
  readonly onRead: (bytes: Uint8Array, length: number) => void;
}

function readInto({ buffer, onRead }: SharedReading): OnReadOpts {
  return {
    buffer,
    callback: (length, bytes) => {
      onRead(bytes, length);
      return true;
    },
  };
}

/** Bounds the connections of all connectors together. */
export interface ConnectionBudget {
  take(): boolean;
  give(): void;
}

export interface ConnectorOptions {
  /** The egress proxy, or null. */
  readonly proxy: URL | null;
  readonly addressTimeoutMs: number;
  /** Resolves the name to connect to; not called for addresses. */
  readonly lookUp: LookupFunction;
  /** Called with a name none of whose addresses could be connected to. */
  readonly distrust: (hostname: string) => void;
  /** Bounds connections to this origin that are not ready yet. */
  readonly maxConnecting: number;
  readonly budget: ConnectionBudget;
}

export interface ConnectEvents {
  /** `inner`, the socket inside the tunnel, replaces the one to the proxy. */
  onTunnel(inner: Socket): void;
  onReady(): void;
}

export class UpstreamConnector {
  readonly #options: ConnectorOptions;
  readonly #origin: Server;
  /** The proxy, or the origin itself. */
  readonly #peer: Server;
  /** Sockets neither ready nor closed. */
  #connecting = 0;

  constructor(origin: string, options: ConnectorOptions) {
    this.#options = options;
    this.#origin = new Server(new URL(origin));
    this.#peer = options.proxy === null ? this.#origin : new Server(options.proxy);
  }

  /** The start of every request; `connectionLines` are `Connection` and the headers it names. */
  createHop(connectionLines: string): Hop {
    const { proxy } = this.#options;
    const { url, isTls } = this.#origin;
    const isAsked = proxy !== null && !isTls;
    return {
      targetPrefix: isAsked ? url.origin : '',
      lines: `Host: ${url.host}\r\n${isAsked ? proxyAuthorization(proxy) : ''}${connectionLines}`,
    };
  }

  /** `allowHalfOpen`: the provider's end does not end our side. `reading` replaces `data` listeners. */
  open(allowHalfOpen: boolean, events: ConnectEvents, reading: SharedReading | null = null): Socket {
    const { budget, maxConnecting, proxy } = this.#options;
    if (this.#connecting >= maxConnecting || !budget.take())
      return new Socket().destroy(new UpstreamError('TOO_MANY_CONNECTIONS'));
    const isTunnel = proxy !== null && this.#origin.isTls;
    const socket = this.#connect(allowHalfOpen, isTunnel ? null : reading);
    socket.once('close', () => budget.give());
    const settle = this.#count(socket);
    const onReady = (): void => {
      settle();
      events.onReady();
    };
    socket.once(this.#peer.isTls ? 'secureConnect' : 'connect', () => {
      if (!isTunnel) {
        onReady();
        return;
      }
      const { urlHost, port } = this.#origin;
      openTunnel(socket, `${urlHost}:${port}`, proxyAuthorization(proxy), () => {
        const inner = this.#origin.connectTls({ allowHalfOpen, socket });
        events.onTunnel(inner);
        // Node fills a given buffer only on sockets it has connected itself.
        if (reading !== null) inner.on('data', (bytes: Buffer) => reading.onRead(bytes, bytes.length));
        inner.once('secureConnect', onReady);
      });
    });
    return socket;
  }

  /** Returns the function to call when the socket is ready. */
  #count(socket: Socket): () => void {
    let isConnecting = true;
    let hasConnected = false;
    this.#connecting += 1;
    const settle = (): void => {
      if (isConnecting) this.#connecting -= 1;
      isConnecting = false;
    };
    socket.once('connect', () => {
      hasConnected = true;
    });
    socket.once('close', (hadError) => {
      settle();
      if (hadError && !hasConnected) this.#options.distrust(this.#peer.hostname);
    });
    return settle;
  }

  #connect(allowHalfOpen: boolean, reading: SharedReading | null): Socket {
    const where = {
      allowHalfOpen,
      ...(reading === null ? {} : { onread: readInto(reading) }),
      host: this.#peer.hostname,
      port: this.#peer.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_PROBE_MS,
      lookup: this.#options.lookUp,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: this.#options.addressTimeoutMs,
    };
    return this.#peer.isTls ? this.#peer.connectTls(where) : connect(where);
  }
}

/** A peer and its TLS settings: always verified, sessions resumed. */
class Server {
  readonly url: URL;
  readonly isTls: boolean;
  readonly urlHost: string;
  readonly hostname: string;
  readonly port: number;
  readonly #secureContext: SecureContext | undefined;
  /** Shortens the next handshake. */
  #session: Buffer | undefined;

  constructor(url: URL) {
    this.url = url;
    this.isTls = url.protocol === 'https:';
    this.urlHost = url.hostname;
    this.hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
    this.port = url.port === '' ? (this.isTls ? 443 : 80) : Number(url.port);
    this.#secureContext = this.isTls ? createSecureContext() : undefined;
  }

  connectTls(options: ConnectionOptions & { readonly allowHalfOpen: boolean }): Socket {
    const socket = connectTls({
      ...options,
      // In a tunnel this only checks the certificate.
      host: this.hostname,
      secureContext: this.#secureContext,
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(this.hostname) === 0 ? { servername: this.hostname } : {}),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    return socket;
  }
}
