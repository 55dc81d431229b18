/**
 * What the proxy asks of the upstream side: one request out, its answer as events. How that is done is
 * `upstream-client.ts`.
 */
import type { Duplex, Readable } from 'node:stream';
import type { UpstreamFailure } from './upstream-failure.ts';

export interface UpstreamRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The operator chose the origin, so it may be anywhere; otherwise only public addresses are connected to. */
  readonly mayBePrivate: boolean;
  readonly method: string;
  /** What to send as `Host` where it is not the origin's; the connection goes to the origin all the same. */
  readonly host?: string | null;
  /** Path and query, sent byte for byte. */
  readonly path: string;
  /** Flat [name, value, …], sent byte for byte; without `Host`, `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | null;
  /** Of a streamed body, where it is known; without it the body is sent in chunks. */
  readonly bodyBytes: number | null;
  /** The client has asked for trailers, and so the provider is asked for them (RFC 9110 10.1.4). */
  readonly takesTrailers?: boolean;
}

/** Called in this order; exactly one of `onEnd` and `onFailure` is the last, and none comes after an abort. */
export interface UpstreamEvents {
  /**
   * A connection is ready. `isReused` when it was kept from an earlier call; a kept one that turns out to be dead
   * before anything was sent is replaced, and this is called again.
   */
  onConnection(isReused: boolean): void;
  /** The final status line and headers, a flat list as received (Latin-1). Interim (1xx) answers are dropped. */
  onHead(status: number, reason: string, rawHeaders: string[]): void;
  /** A slice of what was received; not re-used. */
  onData(chunk: Buffer): void;
  /** Behind the last data of an answer that has some, asked for or not: a flat list as received (Latin-1). */
  onTrailers(rawTrailers: string[]): void;
  onEnd(): void;
  /** No answer, or an answer that was cut. */
  onFailure(failure: UpstreamFailure): void;
}

/** An answer other than 101 comes as any answer does. */
export interface UpgradeEvents extends UpstreamEvents {
  /**
   * The provider has switched protocols (101). The last event: the connection is the receiver's from now on, who must
   * listen to its errors before he returns. It may be paused. `rest` is what came behind the head; it is not read from
   * the socket again.
   */
  onSwitch(reason: string, rawHeaders: string[], socket: Duplex, rest: Buffer): void;
}

export interface UpstreamCall {
  abort(): void;
  /** Until `resume`, neither data nor the end are handed over, also of what was received already. */
  pause(): void;
  /** May hand over what was kept back before it returns. */
  resume(): void;
  /** The answer is all but over: the next call may wait a moment for its connection instead of opening one. */
  expectEnd(): void;
}

export interface UpstreamClient {
  /** May call the events before it returns. */
  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall;
  /** A websocket handshake: `Upgrade` and its `Connection` are written here, the rest is the request's. */
  upgrade(request: UpstreamRequest, events: UpgradeEvents): UpstreamCall;
  close(): Promise<void>;
}

export interface EgressProxy {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}
