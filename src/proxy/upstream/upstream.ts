/** The interface of the upstream side: one request out, its answer as events. */
import type { Duplex, Readable } from 'node:stream';
import type { UpstreamFailure } from './upstream-failure.ts';

export interface UpstreamRequest {
  readonly origin: string;
  /** The operator chose the origin; otherwise only public addresses are allowed. */
  readonly mayBePrivate: boolean;
  readonly method: string;
  /** Sent as `Host` where it differs from the origin's. */
  readonly host?: string | null;
  readonly path: string;
  /** Flat, sent byte for byte; without `Host`, `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | null;
  /** The known length of a streamed body; null sends it in chunks. */
  readonly bodyBytes: number | null;
  /** The client asked for trailers (RFC 9110 10.1.4). */
  readonly takesTrailers?: boolean;
}

/** Called in this order; exactly one of `onEnd` and `onFailure` comes last, and none after an abort. */
export interface UpstreamEvents {
  /** Called again when a kept connection was dead before anything was sent. */
  onConnection(isReused: boolean): void;
  /** Flat headers as received (Latin-1). Interim (1xx) answers are dropped. */
  onHead(status: number, reason: string, rawHeaders: string[]): void;
  onData(chunk: Buffer): void;
  /** After the last data, if any, asked for or not: flat, as received (Latin-1). */
  onTrailers(rawTrailers: string[]): void;
  onEnd(): void;
  /** No answer, or a cut one. */
  onFailure(failure: UpstreamFailure): void;
}

/** Any answer but 101 comes as usual. */
export interface UpgradeEvents extends UpstreamEvents {
  /**
   * The last event (101): the connection is the receiver's, who must listen to its errors at once. It may be paused.
   * `rest` followed the head and is not read from the socket again.
   */
  onSwitch(reason: string, rawHeaders: string[], socket: Duplex, rest: Buffer): void;
}

export interface UpstreamCall {
  abort(): void;
  /** Holds back data and end until `resume`, including bytes already received. */
  pause(): void;
  /** May emit what was held back before it returns. */
  resume(): void;
  /** The answer is nearly over: the next call may wait for its connection. */
  expectEnd(): void;
}

export interface UpstreamClient {
  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall;
  /** Sends a websocket handshake; `Upgrade` and its `Connection` are added. */
  upgrade(request: UpstreamRequest, events: UpgradeEvents): UpstreamCall;
  close(): Promise<void>;
}
