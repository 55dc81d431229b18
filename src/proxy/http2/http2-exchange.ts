/** One HTTP/2 stream as the request and response of an HTTP/1.1 call. Sessions: `http2-sessions.ts`. */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { isHopByHop } from '../../formats/wire/hop-by-hop.ts';
import type { ClientConnection, ClientRequest, ClientResponse } from '../client-exchange.ts';
import type { IdleSweep, IdleWait } from '../idle-sweep.ts';
import type { Http2RequestHead } from './http2-request-head.ts';

/** Time for the bytes of a cut answer to leave before the reset. */
const LAST_BYTES_MS = 10_000;
/** `node:http2` sends no higher final status. */
const MAX_STATUS = 599;

export interface Http2Exchange {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
}

/** `remoteAddress` is the session's. */
export function openHttp2Exchange(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  head: Http2RequestHead,
  unread: IdleSweep,
  remoteAddress: string | undefined,
): Http2Exchange {
  stream.on('error', () => {}); // A reset by either side; `close` tells.
  // After a client's reset, unread bytes would keep the stream open.
  stream.on('aborted', () => stream.destroy());
  const connection = new StreamConnection(stream, remoteAddress);
  return {
    request: new Http2Request(stream, headers, head, connection),
    response: new Http2Response(stream, headers, head.method, connection, unread),
  };
}

class StreamConnection implements ClientConnection {
  readonly remoteAddress: string | undefined;
  readonly #stream: ServerHttp2Stream;
  #unsentWrites = 0;
  #isBreaking = false;

  constructor(stream: ServerHttp2Stream, remoteAddress: string | undefined) {
    this.#stream = stream;
    this.remoteAddress = remoteAddress;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed;
  }

  write(bytes: Buffer, written?: (error?: Error | null) => void): boolean {
    this.#unsentWrites += 1;
    return this.#stream.write(bytes, (error) => {
      written?.(error);
      this.#unsentWrites -= 1;
      if (this.#isBreaking && this.#unsentWrites === 0) this.destroy();
    });
  }

  /** A whole answer is kept and the rest of the request refused; any other answer is reset. */
  destroy(): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.writableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    else stream.destroy(new Error('the answer was cut'));
  }

  destroySoon(): void {
    if (this.#unsentWrites === 0 || this.#stream.writableEnded) {
      this.destroy();
      return;
    }
    this.#isBreaking = true;
    const force = setTimeout(() => this.destroy(), LAST_BYTES_MS);
    this.#stream.once('close', () => clearTimeout(force));
  }

  resetAndDestroy(): void {
    this.destroy();
  }
}

class Http2Request implements ClientRequest {
  readonly method: string;
  url: string;
  /** The version this request is translated to. */
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly socket: ClientConnection;
  readonly #stream: ServerHttp2Stream;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    head: Http2RequestHead,
    connection: ClientConnection,
  ) {
    this.#stream = stream;
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = head.rawHeaders;
    this.headers = headers;
    this.socket = connection;
  }

  get complete(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded;
  }

  on(event: 'data', listener: (chunk: Buffer) => void): void;
  on(event: 'end' | 'close', listener: () => void): void;
  on(event: string, listener: (chunk: Buffer) => void): void {
    this.#stream.on(event, listener);
  }

  once(event: 'end' | 'close', listener: () => void): void {
    this.#stream.once(event, listener);
  }

  off(event: 'data', listener: (chunk: Buffer) => void): void {
    this.#stream.off(event, listener);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  isPaused(): boolean {
    return this.#stream.isPaused();
  }
}

class Http2Response implements ClientResponse {
  sendDate = true;
  shouldKeepAlive = true;
  readonly chunkedEncoding = true;
  readonly req: { readonly socket: ClientConnection };
  readonly socket: ClientConnection;
  readonly #stream: ServerHttp2Stream;
  readonly #connection: StreamConnection;
  readonly #isHead: boolean;
  readonly #takesTrailers: boolean;
  readonly #unread: IdleSweep;
  #head: string[] | null = null;
  #isBodiless = false;
  #hasLength = false;
  #hasTrailers = false;
  #hasEnded = false;
  headersSent = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    method: string,
    connection: StreamConnection,
    unread: IdleSweep,
  ) {
    this.#unread = unread;
    this.#stream = stream;
    this.#isHead = method === 'HEAD';
    this.#takesTrailers = headers.te !== undefined; // HTTP/2 has no other value of it than "trailers".
    this.#connection = connection;
    this.socket = connection;
    this.req = { socket: connection };
  }

  get destroyed(): boolean {
    return this.#stream.destroyed;
  }

  /** The stream's own flag is also set by a reset. */
  get writableFinished(): boolean {
    return this.#hasEnded && this.#stream.writableFinished;
  }

  writeContinue(): void {
    if (!this.#stream.destroyed) this.#stream.additionalHeaders({ ':status': 100 });
  }

  writeHead(status: number, _reason: string, headers: string[]): void {
    this.headersSent = true;
    this.#isBodiless = this.#isHead || status === 204 || status === 205 || status === 304;
    this.#head = [':status', String(status)];
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = (headers[index] ?? '').toLowerCase();
      // RFC 9110 forbids a length here, and in HTTP/2 a non-zero one makes the answer malformed.
      if (name === 'content-length' && (status === 204 || status === 205)) continue;
      if (name === 'content-length') this.#hasLength = true;
      if (!isHopByHop(name) || name === 'trailer') this.#head.push(name, headers[index + 1] ?? '');
    }
    // A client would reject it as malformed.
    if (status > MAX_STATUS) this.#connection.destroy();
  }

  /** The head of a bodiless answer leaves with the end. */
  write(bytes: Buffer, written?: (error?: Error | null) => void): boolean {
    if (this.#isBodiless || this.#stream.destroyed) return true;
    this.#sendHead(false);
    return bytes.length === 0 || this.#connection.write(bytes, written);
  }

  addTrailers(trailers: readonly [string, string][]): void {
    if (!this.#waitsForTrailers || trailers.length === 0) return;
    // No prototype, since a trailer may be named like one of its members.
    const sent: Record<string, string[]> = Object.create(null);
    for (const [name, value] of trailers) {
      const lower = name.toLowerCase();
      const values = sent[lower];
      if (values === undefined) sent[lower] = [value];
      else values.push(value);
    }
    this.#hasTrailers = true;
    this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(sent));
  }

  end(bytes: Buffer | string = ''): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    this.#hasEnded = true;
    const isEmpty = this.#isBodiless || bytes.length === 0;
    this.#sendHead(isEmpty && !this.#hasTrailers);
    if (!stream.writableEnded) {
      if (isEmpty) stream.end();
      else stream.end(bytes);
      if (stream.writableLength > 0) this.#watchRest();
    }
    if (!this.shouldKeepAlive) stream.session?.close();
  }

  destroy(): void {
    this.#connection.destroy();
  }

  once(event: string, listener: () => void): void {
    this.#stream.once(event, listener);
  }

  #watchRest(): void {
    const wait: IdleWait = { touchedMs: performance.now(), onIdle: () => this.#stream.destroy(new Error('not taken')) };
    this.#unread.add(wait);
    this.#stream.once('close', () => this.#unread.remove(wait));
  }

  /** An answer with a length has no trailers. */
  get #waitsForTrailers(): boolean {
    return this.#takesTrailers && !this.#isBodiless && !this.#hasLength;
  }

  #sendHead(isAll: boolean): void {
    if (this.#head === null) return;
    const options = { endStream: isAll, sendDate: this.sendDate, waitForTrailers: this.#waitsForTrailers };
    this.#stream.respond(this.#head, options);
    this.#head = null;
  }
}
