/**
 * The connections to one origin. A call takes the connection that was used last, or a new one; never one that carries
 * another call. Connections hold nothing of a client: any call of any account may be the next.
 */
import { SentCall } from './sent-call.ts';
import { SoonFree } from './soon-free.ts';
import type { UpgradeEvents, UpstreamCall, UpstreamEvents, UpstreamRequest } from './upstream.ts';
import { type ConnectionOwner, type OpenSocket, UpstreamConnection } from './upstream-connection.ts';
import { type ConnectorOptions, UpstreamConnector } from './upstream-connector.ts';
import { UpstreamError } from './upstream-failure.ts';
import { UpstreamHandshake } from './upstream-handshake.ts';
import type { UpstreamLimits } from './upstream-limits.ts';
import { writeRequestHead } from './upstream-request.ts';

/** At most so much is taken at once; what libuv reads at most, too. */
const READ_BYTES = 64 * 1024;
const MAX_IDLE_CONNECTIONS = 1_024;
/** Of all connections: so many may wait for one origin at once, so that one that is dead leaves some to the others. */
const CONNECTING_SHARE = 0.75;
/** Our clock against the provider's, and the way there. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

export class UpstreamPool implements ConnectionOwner {
  readonly limits: UpstreamLimits;
  tick = 0;
  readonly #connector: UpstreamConnector;
  readonly #hopLines: string;
  /** Of requests that ask for trailers; a sender of `TE` has to name it in `Connection` (RFC 9110 10.1.4). */
  readonly #trailerHopLines: string;
  /** All connections read into it, one after the other: what is read is dealt with before the next read. */
  readonly #readBuffer = new Uint8Array(READ_BYTES);
  /** The last is the one used last. */
  readonly #idle: UpstreamConnection[] = [];
  /** All there are, idle, connecting or busy. */
  readonly #connections = new Set<UpstreamConnection>();
  readonly #handshakes = new Set<UpstreamHandshake>();
  readonly #soonFree = new SoonFree<UpstreamConnection>(
    (call) => this.#place(call),
    (call) => this.#open(call),
  );
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(origin: string, limits: UpstreamLimits, ways: Pick<ConnectorOptions, 'lookUp' | 'distrust' | 'budget'>) {
    const { addressTimeoutMs, maxConnections } = limits;
    this.limits = limits;
    this.#connector = new UpstreamConnector(origin, {
      ...{ ...ways, addressTimeoutMs },
      maxConnecting: Math.ceil(maxConnections * CONNECTING_SHARE),
    });
    this.#hopLines = `Host: ${this.#connector.host}\r\nConnection: keep-alive\r\n`;
    this.#trailerHopLines = `Host: ${this.#connector.host}\r\nConnection: keep-alive, TE\r\nTE: trailers\r\n`;
  }

  get isUnused(): boolean {
    return this.#connections.size === 0 && this.#handshakes.size === 0;
  }

  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    let head = '';
    let refusal = this.#isClosed ? new UpstreamError('CLIENT_CLOSED') : null;
    try {
      head = writeRequestHead(request, request.takesTrailers === true ? this.#trailerHopLines : this.#hopLines);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      refusal = error;
    }
    const call = new SentCall(request, head, events);
    if (refusal === null) this.#place(call);
    else call.fail(refusal);
    return call;
  }

  /** On a connection of its own, which is no longer the pool's once the provider has switched protocols. */
  upgrade(request: UpstreamRequest, events: UpgradeEvents): UpstreamCall {
    const handshake = new UpstreamHandshake(this.#connector, this.limits, request, events, () => {
      this.#handshakes.delete(handshake);
    });
    this.#handshakes.add(handshake);
    handshake.start();
    return handshake;
  }

  release(connection: UpstreamConnection, keepAliveMs: number | null): void {
    if (this.#isClosed || this.#idle.length >= MAX_IDLE_CONNECTIONS) {
      connection.destroy();
      return;
    }
    const { limits } = this;
    const offeredMs = keepAliveMs === null ? limits.keepAliveMs : keepAliveMs - KEEP_ALIVE_MARGIN_MS;
    const nowMs = performance.now();
    connection.idleSinceMs = nowMs;
    connection.idleUntilMs = nowMs + Math.min(offeredMs, limits.keepAliveMaxMs);
    if (offeredMs <= 0) {
      connection.destroy();
      return;
    }
    this.#idle.push(connection);
    this.#soonFree.freed(connection);
  }

  expectEnd(connection: UpstreamConnection): void {
    this.#soonFree.add(connection);
  }

  forget(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    this.#soonFree.lost(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  sendAgain(call: SentCall): void {
    this.#open(call);
  }

  sweep(): void {
    this.tick += 1;
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.sweep(nowMs);
  }

  /** Closes the connection that was idle for longest; false when none is. */
  dropIdle(): boolean {
    const connection = this.#idle.shift();
    connection?.destroy();
    return connection !== undefined;
  }

  /** Cuts the calls that are left. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#soonFree.takeAll()) call.fail(new UpstreamError('CLIENT_CLOSED'));
    for (const handshake of this.#handshakes) handshake.fail(new UpstreamError('CLIENT_CLOSED'));
    for (const connection of this.#connections) connection.destroy();
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #place(call: SentCall): void {
    const nowMs = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) {
        if (!this.#soonFree.tryWait(call, this.limits.soonFreeMs)) this.#open(call);
        return;
      }
      if (!connection.isUsable(nowMs)) {
        connection.destroy();
      } else {
        if (nowMs - connection.idleSinceMs < this.limits.trustedIdleMs) connection.begin(call, true);
        else lookTwice(this, connection, call);
        return;
      }
    }
  }

  /** After the second look. */
  placeOn(connection: UpstreamConnection, call: SentCall): void {
    const isUsable = connection.isUsable(performance.now());
    if (call.isEnded) {
      if (isUsable) this.#idle.push(connection);
      else connection.destroy();
    } else if (this.#isClosed) {
      call.fail(new UpstreamError('CLIENT_CLOSED'));
    } else if (isUsable) {
      connection.begin(call, true);
    } else {
      connection.destroy();
      this.#open(call);
    }
  }

  #open(call: SentCall): void {
    const { readyEvent } = this.#connector;
    const open: OpenSocket = (onRead) => this.#connector.open(false, { buffer: this.#readBuffer, onRead });
    const connection = new UpstreamConnection(this, open, readyEvent, call);
    this.#connections.add(connection);
  }
}

/**
 * The end of a long idle connection may have arrived without having been read yet. Two turns of the event loop later it
 * has been: the first may begin after this turn's reading is over.
 */
function lookTwice(pool: UpstreamPool, connection: UpstreamConnection, call: SentCall): void {
  setImmediate(() => setImmediate(() => pool.placeOn(connection, call)));
}
