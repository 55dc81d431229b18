/**
 * Calls through a whole gateway that carry a secret in every place where a client can put one, and a provider that
 * repeats all of them wherever an answer can. Each secret is its own text around one marker, so that a hit says where it
 * came from.
 */
import { randomBytes } from 'node:crypto';
import { createServer as createTlsServer } from 'node:tls';
import { makeCertificate } from '../proxy/make-certificate.ts';
import { startWebsocketProvider } from '../proxy/websocket-provider.ts';
import { type RecordedRequest, type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';

const MARKER = `cNRy${randomBytes(6).toString('hex')}`;
export const PROMPT_MARKER = `pRMt${randomBytes(6).toString('hex')}`;
/** In prompts of calls whose key says that no bodies are kept. */
export const UNKEPT_MARKER = `uNKp${randomBytes(6).toString('hex')}`;

export interface Canaries {
  readonly marker: string;
  /** The marker encoded, wherever it stands within what is encoded. */
  readonly encodedMarkers: readonly string[];
  /** A new secret that was never used before; its name says where it goes. */
  readonly make: (place: string) => string;
  /** All places so far. */
  readonly places: () => readonly string[];
}

export function createCanaries(): Canaries {
  const made: string[] = [];
  return {
    marker: MARKER,
    encodedMarkers: [
      Buffer.from(MARKER).toString('hex'),
      ...[0, 1, 2].map((before) =>
        Buffer.from(`${'x'.repeat(before)}${MARKER}`)
          .toString('base64')
          .slice(2 * before, -4),
      ),
    ],
    make: (place) => {
      made.push(place);
      return `sk${MARKER}x${made.length}x${randomBytes(8).toString('hex')}`;
    },
    places: () => made,
  };
}

/** A header for every place of a credential. `key` is the gateway's. */
export function secretHeaders({ make }: Canaries, key: string, ending: string): string[] {
  const at = (place: string) => make(`${place} (${ending})`);
  const bearer = at('authorization');
  const pair = Buffer.from(`user:${at('basic password')}`).toString('base64');
  return [
    'X-Gateway-Key',
    key,
    'Authorization',
    `Bearer ${bearer}`,
    'X-Upstream-Authorization',
    `Basic ${pair}`,
    // What the log keeps, holding what was sent elsewhere.
    ...['User-Agent', `${bearer}/1.0`, 'Accept', `*/*;key=${bearer}`],
    'Content-Type',
    `application/json; key=${bearer}`,
    'OpenAI-Organization',
    bearer,
    'X-Request-Id',
    bearer,
    'x-api-key',
    at('x-api-key'),
    'X-Goog-Api-Key',
    at('x-goog-api-key'),
    'api-key',
    at('api-key'),
    'Cookie',
    `theme=dark; session=${at('cookie')}`,
    'Proxy-Authorization',
    `Basic ${at('proxy-authorization')}`,
    'X-Amz-Security-Token',
    at('x-amz-security-token'),
    'Sec-WebSocket-Protocol',
    `realtime, openai-insecure-api-key.${at('sec-websocket-protocol')}`,
    'X-Auth-Token',
    at('x-auth-token'),
  ];
}

export function secretQuery({ make }: Canaries, ending: string): string {
  const at = (place: string) => make(`${place} (${ending})`);
  const nested = encodeURIComponent(`https://a.example/?api_key=${at('?callback')}`);
  return [
    `key=${at('?key')}`,
    `alt=sse;access_token=${at('?access_token')}`,
    `%6bey=${at('?%6bey')}`,
    `code=${at('?code')}`,
    `bearer=${at('?bearer')}`,
    `sk-${at('?bare')}`,
    `callback=${nested}`,
    `next=${encodeURIComponent(nested.replace('%3D', `%3D${at('?next')}`))}`,
  ].join('&');
}

/** Segments of a path that have one, or are one. */
export function secretSegments({ make }: Canaries, ending: string): string {
  const at = (place: string) => make(`${place} (${ending})`);
  return `x;key=${at('path;key')}/sk-${at('path segment')}/x%3Fkey=${at('path%3Fkey')}`;
}

/** A request that its client has signed in the query. */
export function signedQuery({ make }: Canaries): string {
  return [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-SignedHeaders=host',
    `X-Amz-Signature=${make('?X-Amz-Signature')}`,
    `X-Amz-Credential=${make('?X-Amz-Credential')}%2F20260101%2Feu-west-1%2Fbedrock%2Faws4_request`,
    `X-Amz-Security-Token=${make('?X-Amz-Security-Token')}`,
  ].join('&');
}

export interface RequestOptions {
  readonly method?: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body?: string;
}

export function formatRequest({ method = 'POST', target, headers, body = '' }: RequestOptions): string {
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : []));
  const length = Buffer.byteLength(body);
  return [`${method} ${target} HTTP/1.1`, 'Host: gate', ...lines, `Content-Length: ${length}`, '', body].join('\r\n');
}

/** Every credential that came, as an error would quote them. */
function quoteAll(request: RecordedRequest): string {
  const values = request.rawHeaders.filter((value, index) => index % 2 === 1 && value.includes(MARKER));
  const [, pair = ''] = (request.header('x-upstream-authorization') ?? '').split(' ');
  const decoded = decodeURIComponent(decodeURIComponent(request.target));
  return [request.target, decoded, ...values, pair, Buffer.from(pair, 'base64').toString()].join(' ');
}

/** As only an error has a reason to write it. */
function quoteEncoded(request: RecordedRequest): string {
  const bearer = Buffer.from((request.header('authorization') ?? '').replace('Bearer ', ''));
  return (['base64', 'base64url', 'hex'] as const).map((encoding) => bearer.toString(encoding)).join(' ');
}

/** What is asked of it stands in the last segment of the path. */
function answerTo(request: RecordedRequest, { make }: Canaries): AnswerStep[] {
  const [path = ''] = request.target.split('?');
  const wish = /\/wish-([a-z0-9-]+)$/.exec(path)?.[1] ?? 'ok';
  const quoted = JSON.stringify(quoteAll(request)).slice(1, -1);
  const headers: [string, string][] = [
    ['content-type', 'application/json'],
    ['set-cookie', `session=${make(`set-cookie (${wish})`)}`],
    ['x-ratelimit-key', quoted],
    ['x-request-id', `req ${quoted}`],
  ];
  const refusal = `{"error":{"type":"invalid_key","message":"Incorrect API key provided: ${quoteEncoded(request)} ${quoted}"}}`;
  switch (wish) {
    case 'error':
      return buildAnswer({ status: 401, headers, body: refusal });
    case 'error-gzip':
      return buildAnswer({ status: 403, headers, body: refusal, encoding: 'gzip' });
    case 'redirect':
      return buildAnswer({
        status: 307,
        headers: [...headers, ['location', `https://u:${make('location')}@evil.example/?${quoted}`]],
        body: refusal,
      });
    case 'cut':
      return buildAnswer({
        headers,
        body: refusal,
        cuts: [Math.floor(refusal.length / 2)],
        framing: 'chunked',
        resetAt: { bodyWrites: 1 },
      });
    case 'reset':
      return buildAnswer({ resetAt: 'before-headers' });
    case 'garbage':
      return [{ write: `HTTP/9.9 ${quoted}\r\n\r\n` }, { end: true }];
    case 'stream':
    case 'stream-error':
    case 'hanging': {
      const event = wish === 'stream' ? `{"choices":[{"delta":{"content":"hi"}}]}` : refusal;
      const text = `data: ${event}\n\n${wish === 'hanging' ? '' : 'data: [DONE]\n\n'}`;
      const [type, ...others] = headers;
      const sent = [[type?.[0] ?? '', 'text/event-stream'] as const, ...others];
      const steps = buildAnswer({ headers: sent, body: text, framing: 'chunked' });
      // Without its last chunk: open until somebody ends it.
      return wish === 'hanging' ? steps.slice(0, -1) : steps;
    }
    default:
      return buildAnswer({
        headers,
        body: `{"id":"1","usage":{"prompt_tokens":3,"completion_tokens":2},"echo":"${quoted}"}`,
      });
  }
}

export interface Upstreams {
  readonly provider: ScriptedProvider;
  readonly env: Readonly<Record<string, string>>;
  /** All that has arrived. */
  readonly received: () => readonly { readonly name: string; readonly content: Buffer }[];
  readonly close: () => Promise<void>;
}

export async function startUpstreams(canaries: Canaries): Promise<Upstreams> {
  const provider = await startScriptedProvider({ answer: (request) => answerTo(request, canaries) });
  const websockets = await startWebsocketProvider((session, request) => {
    const quoted = JSON.stringify(`${request.url} ${request.rawHeaders.join(' ')}`);
    session.send(`{"type":"error","error":{"type":"invalid_key","message":${quoted}}}`);
    session.on('message', () => session.close(3000, String(request.headers['api-key']).slice(0, 100)));
  });
  const secure = createTlsServer(makeCertificate(), (socket) => socket.destroy());
  secure.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  const address = secure.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    provider,
    env: {
      TOLLGATE_METRICS_TOKEN: canaries.make('the token of the metrics'),
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_OPENAI_WS: websockets.origin,
      TOLLGATE_UPSTREAM_OPENAI_TLS: `https://localhost:${port}`,
      TOLLGATE_UPSTREAM_OPENAI_DNS: 'http://nobody.invalid',
      TOLLGATE_UPSTREAM_OPENAI_CLOSED: 'http://127.0.0.1:1',
      TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin,
      TOLLGATE_UPSTREAM_GEMINI: provider.origin,
      TOLLGATE_UPSTREAM_BEDROCK: provider.origin,
      TOLLGATE_UPSTREAM_BEDROCK_SIGNED: provider.origin,
      TOLLGATE_AWS_BEDROCK_SIGNED_REGION: 'eu-west-1',
      TOLLGATE_AWS_BEDROCK_SIGNED_ACCESS_KEY_ID: canaries.make('the operator’s access key id'),
      TOLLGATE_AWS_BEDROCK_SIGNED_SECRET_ACCESS_KEY: canaries.make('the operator’s secret access key'),
      TOLLGATE_AWS_BEDROCK_SIGNED_SESSION_TOKEN: canaries.make('the operator’s session token'),
    },
    received: () => [
      ...provider.requests.map(({ headBytes, body }, index) => ({
        name: `request ${index} at the provider`,
        content: Buffer.concat([headBytes, body()]),
      })),
      ...websockets.requests.map(({ url = '', rawHeaders }, index) => ({
        name: `websocket ${index} at the provider`,
        content: Buffer.from([url, ...rawHeaders].join('\n')),
      })),
    ],
    close: async () => {
      await provider.close();
      await websockets.close();
      await new Promise<void>((resolve) => secure.close(() => resolve()));
    },
  };
}
