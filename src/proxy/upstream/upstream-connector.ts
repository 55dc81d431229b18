/**
 * Opens connections to one origin, all with the same settings: TCP, and TLS where the origin has it. What is sent on
 * them, and whether they are kept, is their owner's business.
 */
import { connect, isIP, type LookupFunction, type OnReadOpts, Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { UpstreamError } from './upstream-failure.ts';

/** First probe on a silent connection, so that a path that died without a word is noticed. */
const TCP_PROBE_MS = 60_000;

/** Where a socket puts what it reads. The buffer is used again once `onRead` returns. */
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

/** The bound on the connections of all connectors together. */
export interface ConnectionBudget {
  /** False when there are too many. */
  take(): boolean;
  give(): void;
}

export interface ConnectorOptions {
  readonly addressTimeoutMs: number;
  /** How the origin's name is resolved; an origin that is an address is connected to as it stands. */
  readonly lookUp: LookupFunction;
  /** Told of a name whose addresses let nobody connect. */
  readonly distrust: (hostname: string) => void;
  /** Of this origin, that are not connected yet. */
  readonly maxConnecting: number;
  readonly budget: ConnectionBudget;
}

export class UpstreamConnector {
  /** The value of `Host`. */
  readonly host: string;
  /** The event after which a socket can be written to. */
  readonly readyEvent: 'connect' | 'secureConnect';
  readonly #hostname: string;
  readonly #port: number;
  readonly #options: ConnectorOptions;
  /** Null without TLS. */
  readonly #secureContext: SecureContext | null;
  /** The last TLS session, with which the next handshake is shorter. */
  #session: Buffer | null = null;
  /** Sockets that are neither ready nor closed. */
  #connecting = 0;

  constructor(origin: string, options: ConnectorOptions) {
    this.#options = options;
    const { protocol, hostname, port, host } = new URL(origin);
    const isTls = protocol === 'https:';
    this.host = host;
    this.readyEvent = isTls ? 'secureConnect' : 'connect';
    this.#hostname = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
    this.#port = port === '' ? (isTls ? 443 : 80) : Number(port);
    this.#secureContext = isTls ? createSecureContext() : null;
  }

  /**
   * `allowHalfOpen`: the provider's end of the connection does not end ours. With `reading` what comes is given to it
   * instead of to the listeners of `data`.
   */
  open(allowHalfOpen: boolean, reading: SharedReading | null = null): Socket {
    const { budget, maxConnecting } = this.#options;
    if (this.#connecting >= maxConnecting || !budget.take())
      return new Socket().destroy(new UpstreamError('TOO_MANY_CONNECTIONS'));
    const socket = this.#connect(allowHalfOpen, reading);
    this.#follow(socket);
    socket.once('close', () => budget.give());
    return socket;
  }

  #follow(socket: Socket): void {
    let isConnecting = true;
    const settle = (): void => {
      if (isConnecting) this.#connecting -= 1;
      isConnecting = false;
    };
    let hasConnected = false;
    this.#connecting += 1;
    socket.once('connect', () => {
      hasConnected = true;
    });
    socket.once(this.readyEvent, settle);
    socket.once('close', (hadError) => {
      settle();
      if (hadError && !hasConnected) this.#options.distrust(this.#hostname);
    });
  }

  #connect(allowHalfOpen: boolean, reading: SharedReading | null): Socket {
    const where = {
      host: this.#hostname,
      port: this.#port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_PROBE_MS,
      allowHalfOpen,
      lookup: this.#options.lookUp,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: this.#options.addressTimeoutMs,
      ...(reading === null ? {} : { onread: readInto(reading) }),
    };
    if (this.#secureContext === null) return connect(where);
    const socket = connectTls({
      ...where,
      secureContext: this.#secureContext,
      // Whatever the variable of Node says that turns it off.
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(this.#hostname) === 0 ? { servername: this.#hostname } : {}),
      ...(this.#session === null ? {} : { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    return socket;
  }
}
