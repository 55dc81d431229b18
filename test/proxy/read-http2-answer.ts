/**
 * An HTTP/2 client that sends given headers and returns what came, to be compared with an HTTP/1.1 answer. One stream of
 * a session that the test opened.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  /** Flat, as received, without `:status`. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Flat, as received. */
  readonly rawTrailers: readonly string[];
  /** How often "100 Continue" came. */
  readonly continues: number;
  /** `complete`: END_STREAM came. Else the code of the reset. */
  readonly end: 'complete' | number;
}

export interface Http2Call {
  readonly method?: string;
  readonly path: string;
  /** Flat, with duplicates. */
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
  /** The test sends the body by itself. */
  readonly isOpen?: boolean;
  readonly onStream?: (stream: ClientHttp2Stream) => void;
  /** After each piece of the body. */
  readonly onBody?: (bytesSoFar: number, stream: ClientHttp2Stream) => void;
}

export function readHttp2Answer(session: ClientHttp2Session, call: Http2Call): Promise<Http2Answer> {
  const { method = 'GET', path, headers = [], body, onStream, onBody } = call;
  return new Promise((resolve) => {
    const stream = session.request([':method', method, ':path', path, ...headers], {
      endStream: body === undefined && call.isOpen !== true,
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let rawHeaders: readonly string[] = [];
    let rawTrailers: readonly string[] = [];
    let continues = 0;
    let hasEnded = false;
    stream.on('continue', () => {
      continues += 1;
    });
    stream.on('response', (found, _flags, raw) => {
      status = found[':status'] ?? 0;
      rawHeaders = raw.slice(2);
    });
    stream.on('trailers', (_found, _flags, raw) => {
      rawTrailers = raw;
    });
    stream.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      onBody?.(bytes, stream);
    });
    stream.on('end', () => {
      hasEnded = true;
    });
    stream.on('error', () => {}); // `close` has the code
    stream.on('close', () => {
      // A stream that was reset with NO_ERROR after its ending is a whole one.
      const isWhole = hasEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      resolve({
        status,
        rawHeaders,
        rawTrailers,
        body: Buffer.concat(parts),
        continues,
        end: isWhole ? 'complete' : stream.rstCode,
      });
    });
    onStream?.(stream);
    if (body !== undefined) stream.end(body);
  });
}

/** The first value of that name, in lower case. */
export function headerOf(answer: Http2Answer, name: string): string | undefined {
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    if (answer.rawHeaders[index] === name) return answer.rawHeaders[index + 1];
  }
  return undefined;
}
