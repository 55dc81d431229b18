/**
 * A request of `node:http` that leaves out what a call here does not need.
 *
 * Its `headers` are not put together when only `node:http` itself asks for them: it looks up `host` and `expect` in
 * every request, which made an object of all headers each time, and the steps of a call read `rawHeaders`.
 *
 * A body that is held anyway can be had as it comes from the parser, past the stream that a request is: for the one
 * chunk of a small body that buffered, flowed, ended and destroyed itself, over five turns of the tick queue.
 */
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { BodyTaker } from './client-exchange.ts';

export class LeanRequest extends IncomingMessage {
  #taker: BodyTaker | null = null;
  /** All of the body was passed on, and none of it through the stream. */
  #isPassed = false;

  passBody(taker: BodyTaker | null): void {
    this.#taker = taker;
    // Says that somebody reads; otherwise `node:http` would set the stream going to throw away what it holds.
    if (taker !== null) this._read(0);
  }

  /** The parser hands over a chunk, or null at the end. */
  override push(chunk: Buffer | null): boolean {
    const taker = this.#taker;
    if (taker === null) return super.push(chunk);
    if (chunk === null) {
      this.#taker = null;
      this.#isPassed = true;
      taker.takeEnd();
    } else {
      taker.takeChunk(chunk);
    }
    return true;
  }

  /** All headers, put together as `node:http` does. */
  get allHeaders(): IncomingHttpHeaders {
    return Reflect.get(IncomingMessage.prototype, 'headers', this);
  }

  static {
    // By this, too, `node:http` knows that it need not hold on to the request.
    Object.defineProperty(LeanRequest.prototype, 'readableEnded', {
      get(this: LeanRequest): boolean {
        return this.#isPassed || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
      },
    });
    // By definition instead of `get headers()`: the base class's type has it as a field.
    Object.defineProperty(LeanRequest.prototype, 'headers', {
      get(this: LeanRequest): IncomingHttpHeaders {
        return readHostOnly(this.rawHeaders) ?? this.allHeaders;
      },
    });
  }
}

/** Null unless the request is one of which `node:http` needs to know no other header than its host. */
function readHostOnly(rawHeaders: readonly string[]): IncomingHttpHeaders | null {
  let host: string | undefined;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    switch (name.length) {
      case 2: // TE, of HTTP/1.0
        if (name.toLowerCase() === 'te') return null;
        break;
      case 4:
        if (name.toLowerCase() === 'host') host ??= rawHeaders[index + 1];
        break;
      case 6:
        if (name.toLowerCase() === 'expect') return null;
        break;
      case 7:
        if (name.toLowerCase() === 'upgrade') return null;
        break;
    }
  }
  return host === undefined ? null : { host };
}
