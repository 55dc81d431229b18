/** The client's side of a call in any protocol: the objects of `node:http`, or those of `http2-exchange.ts`. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressToken } from './address-token.ts';

/** The socket of HTTP/1.1, or one stream of HTTP/2 but never the connection it shares. */
export interface ClientConnection {
  readonly destroyed: boolean;
  /** Our end of the connection; absent in HTTP/2. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** The client's end of the connection, or of the HTTP/2 session. */
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  /** Flushes before it closes. */
  destroySoon(): void;
  resetAndDestroy(): unknown;
}

export interface ClientRequest {
  readonly method?: string | undefined;
  /** Without the key or run token that stood in it, once `cutAddressToken` has seen it. */
  url?: string | undefined;
  addressToken?: AddressToken | undefined;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Flat, as received, Latin-1. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
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
  /** The ending is an explicit mark, so that a client notices when it is missing. */
  readonly chunkedEncoding: boolean;
  readonly req: { readonly socket: ClientConnection };
  /** Null while earlier pipelined answers are still being sent. */
  readonly socket: ClientConnection | null;
  writeContinue(): void;
  /** `headers` is flat, with duplicates. The head leaves with the first write, or with the end. */
  writeHead(status: number, reason: string, headers: string[]): unknown;
  /** `written` is called when the bytes are with the operating system, or with an error. */
  write(bytes: Buffer, written?: (error?: Error | null) => void): boolean;
  /** Trailers, in order and with duplicates; sent only behind chunks or frames. */
  addTrailers(trailers: readonly [string, string][]): void;
  end(bytes?: Buffer | string): unknown;
  destroy(): unknown;
  once(event: 'close' | 'drain' | 'socket', listener: () => void): unknown;
}
