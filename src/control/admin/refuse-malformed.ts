/** Refuses requests that two readers could read in two ways, since the application sees parsed addresses only. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MAX_HEADERS = 200;
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
/** Printable ASCII without what parsers disagree about. */
const TARGET = /^\/(?!\/)[!"$-[\]-~]*$/;
const DOT_SEGMENT = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?=\/|;|%2f|%5c|%3b|$)/i;

export function refuseMalformed(listener: RequestListener): RequestListener {
  const closing = new WeakSet<Socket>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    if (closing.has(socket)) return;
    const status = statusOfMalformed(incoming);
    if (status === null) {
      if (hasOffer(incoming)) {
        // Node has dropped what followed in the packet, and would take the rest of it for a request.
        outgoing.shouldKeepAlive = false;
        closing.add(socket);
      }
      listener(incoming, outgoing);
      return;
    }
    closing.add(socket);
    refuse(outgoing, status);
  };
}

/** Returns the status of the refusal, or null. */
function statusOfMalformed({ httpVersionMajor, httpVersionMinor, rawHeaders, url = '' }: IncomingMessage) {
  if (rawHeaders.length > MAX_HEADERS * 2) return 431;
  const [path = ''] = url.split('?', 1);
  if (httpVersionMajor !== 1 || !TARGET.test(url) || DOT_SEGMENT.test(path) || /%00/.test(path)) return 400;
  let hosts = 0;
  let codings = 0;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? '';
    switch (rawHeaders[index]?.toLowerCase()) {
      case 'host':
        hosts += 1;
        if (!HOST.test(value)) return 400;
        break;
      case 'transfer-encoding':
        codings += 1;
        if (value.trim().toLowerCase() !== 'chunked' || httpVersionMinor === 0) return 400;
        break;
    }
  }
  return hosts === 1 && codings <= 1 ? null : 400;
}

function hasOffer({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

function refuse(outgoing: ServerResponse, status: 400 | 431): void {
  const code = status === 431 ? 'headers_too_large' : 'malformed_request';
  const message = status === 431 ? 'More than 200 headers.' : 'The request is not well-formed HTTP/1.1.';
  outgoing.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  outgoing.end(JSON.stringify({ error: { code, message, request_id: null } }));
}
