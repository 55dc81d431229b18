/** Fetches the price feed over HTTP. It sends nothing about this gateway or its calls. */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { chooseProxy, type EgressProxies } from '../../../vocabulary/egress-proxy.ts';
import { MAX_CATALOG_BYTES } from './import-catalog.ts';

export interface FeedRequest {
  readonly url: string;
  /** The known content's ETag; null to get the content in any case. */
  readonly etag: string | null;
  readonly egress: EgressProxies;
  /** Covers redirects and body. */
  readonly timeoutMs: number;
}

export type FeedAnswer =
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'content'; readonly bytes: Uint8Array; readonly etag: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MAX_ETAG_LENGTH = 500;

function fail(reason: string): FeedAnswer {
  return { kind: 'failed', reason };
}

/** The redirect's address if it is on the same host, otherwise the failure. */
function follow(from: URL, location: string | null): URL | FeedAnswer {
  const to = location === null ? null : URL.parse(location, from);
  if (to === null) return fail('it redirects to nowhere');
  if (to.origin !== from.origin) return fail(`it redirects to another host, ${to.host}`);
  return to;
}

/** Null when the body exceeds a catalog's limit. */
async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_CATALOG_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be reached';
  const code = 'code' in error ? String(error.code) : error.name;
  return `it could not be reached (${code})`;
}

/** Resolves with the answer's head; the body is unread. */
function open(address: URL, etag: string | null, egress: EgressProxies, signal: AbortSignal): Promise<IncomingMessage> {
  const proxy = chooseProxy(egress, address.origin)?.href;
  const isTls = address.protocol === 'https:';
  const options = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
  return new Promise((resolve, reject) => {
    const send = isTls ? requestHttps : requestHttp;
    const request = send(address, {
      agent: isTls ? new HttpsAgent(options) : new HttpAgent(options),
      signal,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'tollgate',
        ...(etag === null ? {} : { 'if-none-match': etag }),
      },
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.end();
  });
}

async function ask({ url, etag, egress }: FeedRequest, signal: AbortSignal): Promise<FeedAnswer> {
  let address = new URL(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const answer = await open(address, etag, egress, signal);
    // An abandoned request may still fail, and without a listener that would end the process.
    answer.on('error', () => {});
    try {
      const next = await readAnswer(answer, address, etag);
      if (!(next instanceof URL)) return next;
      address = next;
    } finally {
      answer.destroy();
    }
  }
  return fail(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** Returns the address for a redirect. */
async function readAnswer(answer: IncomingMessage, from: URL, etag: string | null): Promise<FeedAnswer | URL> {
  const { statusCode = 0, headers } = answer;
  if (REDIRECTS.includes(statusCode)) return follow(from, headers.location ?? null);
  if (statusCode === 304 && etag !== null) return { kind: 'not_modified' };
  if (statusCode !== 200) return fail(`it answered with status ${statusCode}`);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return fail('its content is compressed, though it was asked not to be');
  const bytes = await readBytes(answer);
  if (bytes === null) return fail(`it has more than ${MAX_CATALOG_BYTES} bytes`);
  const newEtag = headers.etag ?? null;
  return { kind: 'content', bytes, etag: (newEtag?.length ?? 0) > MAX_ETAG_LENGTH ? null : newEtag };
}

export async function fetchFeed(feed: FeedRequest): Promise<FeedAnswer> {
  const signal = AbortSignal.timeout(feed.timeoutMs);
  try {
    return await ask(feed, signal);
  } catch (error) {
    return fail(signal.aborted ? `it was not there after ${feed.timeoutMs / 1_000} s` : describeError(error));
  }
}
