/**
 * The head of an HTTP/2 request as the HTTP/1.1 request that it stands for (RFC 9113 8.3.1, 8.2.3), so that every later
 * step knows one form only. What is malformed in the sense of HTTP/2 was refused by the session before. Pure.
 */

export interface Http2RequestHead {
  readonly method: string;
  readonly url: string;
  /** Flat, in the order received; `:authority` is `host` and comes first. */
  readonly rawHeaders: readonly string[];
  /** As the head would take on the wire of HTTP/1.1; what its limit is about. */
  readonly headBytes: number;
}

/** Of `: ` and the line end. */
const LINE_BYTES = 4;

/** `hasBody`: frames with the body may follow. */
export function readHttp2RequestHead(received: readonly string[], hasBody: boolean): Http2RequestHead {
  const rawHeaders: string[] = [];
  let method = '';
  let url = '';
  let authority: string | null = null;
  let hasLength = false;
  let headBytes = 0;
  /** Where the value of the first `cookie` stands; its crumbs are one header again. */
  let cookieAt = -1;
  for (let index = 0; index + 1 < received.length; index += 2) {
    const name = received[index] ?? '';
    const value = received[index + 1] ?? '';
    headBytes += name.length + value.length + LINE_BYTES;
    switch (name) {
      case ':method':
        method = value;
        continue;
      case ':path':
        url = value;
        continue;
      case ':authority':
        authority = value;
        rawHeaders.push('host', value);
        continue;
      case ':scheme':
        continue;
      case 'host':
        // The same once more says nothing; another one stays and is refused as a second host.
        if (value.toLowerCase() === authority?.toLowerCase()) continue;
        break;
      case 'cookie':
        if (cookieAt !== -1) {
          rawHeaders[cookieAt] += `; ${value}`;
          continue;
        }
        cookieAt = rawHeaders.length + 1;
        break;
      case 'content-length':
        hasLength = true;
        break;
    }
    rawHeaders.push(name, value);
  }
  if (hasBody && !hasLength) rawHeaders.push('transfer-encoding', 'chunked');
  return { method, url, rawHeaders, headBytes };
}
