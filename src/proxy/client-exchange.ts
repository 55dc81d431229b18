/**
 * What the steps of a call need of the client's side, whatever protocol it speaks. HTTP/1.1 gives its own objects of
 * `node:http`, without anything in between; HTTP/2 gives those of `http2-exchange.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** What carries one exchange: the socket of HTTP/1.1; one stream of HTTP/2, never the connection it shares. */
export interface ClientConnection {
  readonly destroyed: boolean;
  /** Where the connection came in; absent in HTTP/2, whose targets name no host. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** The other end of the connection; of the session in HTTP/2. */
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  /** After what was written has left. */
  destroySoon(): void;
  resetAndDestroy(): unknown;
}

export interface ClientRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Flat, as received, Latin-1. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  /** The whole body has come. */
  readonly complete: boolean;
  readonly socket: ClientConnection;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  isPaused(): boolean;
}

export interface ClientResponse {
  sendDate: boolean;
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  /** The ending is a mark of its own, so that a client sees when it is missing. */
  readonly chunkedEncoding: boolean;
  readonly req: { readonly socket: ClientConnection };
  /** Null while the answers before it have not left. */
  readonly socket: ClientConnection | null;
  writeContinue(): void;
  /** `headers` is flat, with duplicates. The head leaves with the first write, or with the end. */
  writeHead(status: number, reason: string, headers: string[]): unknown;
  /** `written` is called when they are with the operating system, or with an error. */
  write(bytes: Buffer, written?: (error?: Error | null) => void): boolean;
  /**
   * They leave behind the end of an answer in chunks, or in frames; no other has any. In this order, with duplicates.
   */
  addTrailers(trailers: readonly [string, string][]): void;
  end(bytes?: Buffer | string): unknown;
  destroy(): unknown;
  once(event: 'close' | 'drain' | 'socket', listener: () => void): unknown;
}
