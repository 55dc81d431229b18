/**
 * A request of `node:http` whose `headers` are not put together when only `node:http` itself asks for them. It looks up
 * `host` and `expect` in every request, which made an object of all headers each time, and nothing else here reads it:
 * the steps of a call read `rawHeaders`.
 */
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';

export class LeanRequest extends IncomingMessage {
  /** All headers, put together as `node:http` does. */
  get allHeaders(): IncomingHttpHeaders {
    return Reflect.get(IncomingMessage.prototype, 'headers', this);
  }

  static {
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
