/** Writes a request's head byte for byte, and refuses what could be misread (RFC 9112 11.1). Pure. */
import { isToken } from '../../formats/wire/header-token.ts';
import type { UpstreamRequest } from './upstream.ts';
import { UpstreamError } from './upstream-failure.ts';

/** Characters beyond Latin-1 would be truncated on the wire, for instance to a line feed. */
const NOT_TARGET = /[^\x21-\x7e\x80-\xff]/;
const NOT_HOST = /[^\w.:-]/;
const HOST_LINE = /^Host: [^\r\n]*\r\n/;
/** NUL, CR, LF and characters beyond Latin-1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all but three of them.
const NOT_VALUE = /[^\x01-\x09\x0b\x0c\x0e-\xff]/;

export interface Hop {
  /** Empty, or the origin where an egress proxy is asked. */
  readonly targetPrefix: string;
  /** `Host`, `Connection` and proxy headers, with line ends. */
  readonly lines: string;
}

/** Returns Latin-1 text; throws REQUEST_UNSENDABLE. */
export function writeRequestHead(request: UpstreamRequest, hop: Hop): string {
  const { method, path, headers, body, bodyBytes, host = null } = request;
  if (!isToken(method) || path === '' || NOT_TARGET.test(path)) throw new UpstreamError('REQUEST_UNSENDABLE');
  if (host !== null && NOT_HOST.test(host)) throw new UpstreamError('REQUEST_UNSENDABLE');
  const ownLines = host === null ? hop.lines : hop.lines.replace(HOST_LINE, `Host: ${host}\r\n`);
  let head = `${method} ${hop.targetPrefix}${path} HTTP/1.1\r\n${ownLines}`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!isToken(name) || NOT_VALUE.test(value) || isFraming(name)) throw new UpstreamError('REQUEST_UNSENDABLE');
    head += `${name}: ${value}\r\n`;
  }
  const length = body === null ? (meansBody(method) ? 0 : null) : Buffer.isBuffer(body) ? body.length : bodyBytes;
  if (length !== null) return `${head}content-length: ${length}\r\n\r\n`;
  return body === null ? `${head}\r\n` : `${head}transfer-encoding: chunked\r\n\r\n`;
}

function isFraming(name: string): boolean {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host';
    case 14:
      return name.toLowerCase() === 'content-length';
    case 17:
      return name.toLowerCase() === 'transfer-encoding';
    default:
      return false;
  }
}

/** Servers expect a length with these even without a body (RFC 9110 8.6). */
function meansBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
