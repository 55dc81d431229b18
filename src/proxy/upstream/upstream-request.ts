/**
 * Writes the head of a request: what it is given, in its order and byte for byte, between the lines of this hop. Refuses
 * what would be read as something else than it was meant (RFC 9112 11.1). Pure.
 */
import type { UpstreamRequest } from './upstream.ts';
import { UpstreamError } from './upstream-failure.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** A character beyond Latin-1 would become another one on the wire, a line feed for instance. */
const NOT_TARGET = /[^\x21-\x7e\x80-\xff]/;
const NOT_HOST = /[^\w.:-]/;
const HOST_LINE = /^Host: [^\r\n]*\r\n/;
const NOT_VALUE = /[\0\r\n]|[^\0-\xff]/;

/** `hopLines` are `Host` and `Connection`, with their line ends. To be written as Latin-1. */
export function writeRequestHead(request: UpstreamRequest, hopLines: string): string {
  const { method, path, headers, body, bodyBytes, host = null } = request;
  if (!TOKEN.test(method) || path === '' || NOT_TARGET.test(path)) throw new UpstreamError('REQUEST_UNSENDABLE');
  if (host !== null && NOT_HOST.test(host)) throw new UpstreamError('REQUEST_UNSENDABLE');
  const ownLines = host === null ? hopLines : hopLines.replace(HOST_LINE, `Host: ${host}\r\n`);
  let head = `${method} ${path} HTTP/1.1\r\n${ownLines}`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!TOKEN.test(name) || NOT_VALUE.test(value) || isFraming(name)) throw new UpstreamError('REQUEST_UNSENDABLE');
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

/** Of these a server expects a length even when there is no body (RFC 9110 8.6). */
function meansBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}
