/** A request of `node:http` that does not build `headers` for Node's own look-ups of `host` and `expect`. */
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';

export class LeanRequest extends IncomingMessage {
  get allHeaders(): IncomingHttpHeaders {
    return Reflect.get(IncomingMessage.prototype, 'headers', this);
  }

  static {
    // Defined this way because the base class's type has `headers` as a field.
    Object.defineProperty(LeanRequest.prototype, 'headers', {
      get(this: LeanRequest): IncomingHttpHeaders {
        return readHostOnly(this.rawHeaders) ?? this.allHeaders;
      },
    });
  }
}

/** Null unless `node:http` needs no header of this request but its host. */
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
