/** Translates the head of an HTTP/2 request to HTTP/1.1 (RFC 9113 8.3.1, 8.2.3). Pure. */

export interface Http2RequestHead {
  readonly method: string;
  readonly url: string;
  /** Flat, in the order received; `:authority` becomes `host`. */
  readonly rawHeaders: readonly string[];
  /** The size it would have in HTTP/1.1, for the header limit. */
  readonly headBytes: number;
}

const LINE_BYTES = 4;

/** `hasBody`: body frames may follow. */
export function readHttp2RequestHead(received: readonly string[], hasBody: boolean): Http2RequestHead {
  const rawHeaders: string[] = [];
  let method = '';
  let url = '';
  let authority: string | null = null;
  let hasLength = false;
  let headBytes = 0;
  /** Position of the first `cookie` value; later crumbs are joined to it. */
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
        // A host equal to the authority is dropped; a different one is refused later as a second host.
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
