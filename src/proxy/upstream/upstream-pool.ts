/** The connections to one origin; a call takes the most recently used idle one. They hold nothing of a client. */

import { ConnectionWaitlist } from './connection-waitlist.ts';
import { InFlightRequest } from './in-flight-request.ts';
import type { UpgradeEvents, UpstreamCall, UpstreamEvents, UpstreamRequest } from './upstream.ts';
import { type ConnectionOwner, type OpenSocket, UpstreamConnection } from './upstream-connection.ts';
import { type ConnectorOptions, UpstreamConnector } from './upstream-connector.ts';
import { UpstreamError } from './upstream-failure.ts';
import { UpstreamHandshake } from './upstream-handshake.ts';
import type { UpstreamLimits } from './upstream-limits.ts';
import { type Hop, writeRequestHead } from './upstream-request.ts';

/** The most that libuv reads at once. */
const READ_BYTES = 64 * 1024;
const MAX_IDLE_CONNECTIONS = 1_024;
/** Share of all connections that one origin may have connecting, so that a dead one leaves some to others. */
const CONNECTING_SHARE = 0.75;
/** Allows for clock differences and the network. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

export class UpstreamPool implements ConnectionOwner {
  readonly limits: UpstreamLimits;
  tick = 0;
  readonly #connector: UpstreamConnector;
  readonly #hop: Hop;
  /** A sender of `TE` has to name it in `Connection` (RFC 9110 10.1.4). */
  readonly #trailerHop: Hop;
  /** Shared by all connections: what is read is handled before the next read. */
  readonly #readBuffer = new Uint8Array(READ_BYTES);
  readonly #idle: UpstreamConnection[] = [];
  readonly #connections = new Set<UpstreamConnection>();
  readonly #handshakes = new Set<UpstreamHandshake>();
  readonly #waitlist = new ConnectionWaitlist<UpstreamConnection>(
    (call) => this.#place(call),
    (call) => this.#open(call),
  );
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(
    origin: string,
    limits: UpstreamLimits,
    ways: Omit<ConnectorOptions, 'addressTimeoutMs' | 'maxConnecting'>,
  ) {
    const { addressTimeoutMs, maxConnections } = limits;
    this.limits = limits;
    this.#connector = new UpstreamConnector(origin, {
      ...ways,
      addressTimeoutMs,
      maxConnecting: Math.ceil(maxConnections * CONNECTING_SHARE),
    });
    this.#hop = this.#connector.createHop('Connection: keep-alive\r\n');
    this.#trailerHop = this.#connector.createHop('Connection: keep-alive, TE\r\nTE: trailers\r\n');
  }

  get isUnused(): boolean {
    return this.#connections.size === 0 && this.#handshakes.size === 0;
  }

  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    let head = '';
    let refusal = this.#isClosed ? new UpstreamError('CLIENT_CLOSED') : null;
    try {
      head = writeRequestHead(request, request.takesTrailers === true ? this.#trailerHop : this.#hop);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      refusal = error;
    }
    const call = new InFlightRequest(request, head, events);
    if (refusal === null) this.#place(call);
    else call.fail(refusal);
    return call;
  }

  /** Opens a connection that leaves the pool once the provider has switched protocols. */
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
    this.#waitlist.freed(connection);
  }

  expectEnd(connection: UpstreamConnection): void {
    this.#waitlist.add(connection);
  }

  forget(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    this.#waitlist.lost(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  sendAgain(call: InFlightRequest): void {
    this.#open(call);
  }

  sweep(): void {
    this.tick += 1;
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.sweep(nowMs);
  }

  /** Closes the connection idle for longest; returns false when none is. */
  dropIdle(): boolean {
    const connection = this.#idle.shift();
    connection?.destroy();
    return connection !== undefined;
  }

  /** Cuts the remaining calls. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#waitlist.takeAll()) call.fail(new UpstreamError('CLIENT_CLOSED'));
    for (const handshake of this.#handshakes) handshake.fail(new UpstreamError('CLIENT_CLOSED'));
    for (const connection of this.#connections) connection.destroy();
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  #place(call: InFlightRequest): void {
    const nowMs = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) {
        if (!this.#waitlist.tryWait(call, this.limits.waitForIdleMs)) this.#open(call);
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

  placeOn(connection: UpstreamConnection, call: InFlightRequest): void {
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

  #open(call: InFlightRequest): void {
    const open: OpenSocket = (events, onRead) =>
      this.#connector.open(false, events, { buffer: this.#readBuffer, onRead });
    const connection = new UpstreamConnection(this, open, call);
    this.#connections.add(connection);
  }
}

/** The end of a long idle connection may have arrived unread; two turns of the event loop later it was read. */
function lookTwice(pool: UpstreamPool, connection: UpstreamConnection, call: InFlightRequest): void {
  setImmediate(() => setImmediate(() => pool.placeOn(connection, call)));
}
