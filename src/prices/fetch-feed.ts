/**
 * One look at the price feed over HTTP: not modified, its bytes, or why neither. What the bytes are worth is for others.
 * It sends nothing about this gateway or its calls.
 */
import { EnvHttpProxyAgent, request } from 'undici';
import { MAX_CATALOG_BYTES } from './import-catalog.ts';

export interface FeedRequest {
  readonly url: string;
  /** Of the content that is known; null to get it in any case. */
  readonly etag: string | null;
  /** As for calls to providers. */
  readonly egress: {
    readonly httpProxy: string | null;
    readonly httpsProxy: string | null;
    readonly noProxy: string | null;
  };
  /** For the whole of it. */
  readonly timeoutMs: number;
}

export type FeedAnswer =
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'content'; readonly bytes: Uint8Array; readonly etag: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Longer ones are not kept. */
const MAX_ETAG_LENGTH = 500;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function readHeader(headers: Headers, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

function fail(reason: string): FeedAnswer {
  return { kind: 'failed', reason };
}

/** The address that a redirect leads to, if it is on the same host; else the failure. */
function follow(from: URL, location: string | null): URL | FeedAnswer {
  const to = location === null ? null : URL.parse(location, from);
  if (to === null) return fail('it redirects to nowhere');
  if (to.origin !== from.origin) return fail(`it redirects to another host, ${to.host}`);
  return to;
}

/** Null when there are more bytes than a catalogue may have. */
async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_CATALOG_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function describeError(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'it could not be reached';
  if (error.name === 'TimeoutError') return `it was not there after ${timeoutMs / 1_000} s`;
  const code = 'code' in error ? String(error.code) : error.name;
  return `it could not be reached (${code})`;
}

async function ask({ url, etag, timeoutMs }: FeedRequest, agent: EnvHttpProxyAgent): Promise<FeedAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  let address = new URL(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const { statusCode, headers, body } = await request(address, {
      dispatcher: agent,
      signal,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'tollgate',
        ...(etag === null ? {} : { 'if-none-match': etag }),
      },
    });
    // Whoever is given up has nobody left to tell; without a listener the process would end.
    body.on('error', () => {});
    if (REDIRECTS.includes(statusCode)) {
      await body.dump();
      const next = follow(address, readHeader(headers, 'location'));
      if (!(next instanceof URL)) return next;
      address = next;
      continue;
    }
    if (statusCode === 200) {
      const encoding = readHeader(headers, 'content-encoding') ?? 'identity';
      if (encoding !== 'identity') {
        body.destroy();
        return fail('its content is compressed, though it was asked not to be');
      }
      const bytes = await readBytes(body);
      if (bytes === null) return fail(`it has more than ${MAX_CATALOG_BYTES} bytes`);
      const newEtag = readHeader(headers, 'etag');
      return { kind: 'content', bytes, etag: (newEtag?.length ?? 0) > MAX_ETAG_LENGTH ? null : newEtag };
    }
    await body.dump();
    return statusCode === 304 && etag !== null
      ? { kind: 'not_modified' }
      : fail(`it answered with status ${statusCode}`);
  }
  return fail(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** Never rejects. */
export async function fetchFeed(feed: FeedRequest): Promise<FeedAnswer> {
  const { httpProxy, httpsProxy, noProxy } = feed.egress;
  const agent = new EnvHttpProxyAgent({
    ...(httpProxy === null ? {} : { httpProxy }),
    ...(httpsProxy === null ? {} : { httpsProxy }),
    ...(noProxy === null ? {} : { noProxy }),
  });
  try {
    return await ask(feed, agent);
  } catch (error) {
    return fail(describeError(error, feed.timeoutMs));
  } finally {
    void agent.destroy();
  }
}
