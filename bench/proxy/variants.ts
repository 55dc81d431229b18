/**
 * What is measured: the variants, the request that each sends, and the budgets that they are held against. How it is
 * measured stands in `measure.ts`.
 */

export type VariantName = 'json' | 'sse-untouched' | 'sse-hidden' | 'sse-gzip';

export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  readonly unit: 'request' | 'chunk';
  /** Which prepared answer the client must see; its length is checked on every answer. */
  readonly clientSees: 'json' | 'sse' | 'sse-usage' | 'sse-usage-gzip';
  readonly connections: number;
  readonly warmUpAnswers: number;
  /** Ratio to nginx: the first budget and the one aimed at next. */
  readonly budget: { readonly first: number; readonly next: number };
}

export const VARIANTS: readonly Variant[] = [
  {
    name: 'json',
    title: 'small JSON call',
    unit: 'request',
    clientSees: 'json',
    connections: 64,
    warmUpAnswers: 6000,
    budget: { first: 3.0, next: 2.2 },
  },
  {
    name: 'sse-untouched',
    title: 'SSE chunk, untouched (the client asks for usage itself)',
    unit: 'chunk',
    clientSees: 'sse-usage',
    connections: 100,
    warmUpAnswers: 100,
    budget: { first: 3.0, next: 2.2 },
  },
  {
    name: 'sse-hidden',
    title: 'SSE chunk, usage asked for and hidden',
    unit: 'chunk',
    clientSees: 'sse',
    connections: 100,
    warmUpAnswers: 100,
    budget: { first: 4.0, next: 3.0 },
  },
  {
    name: 'sse-gzip',
    title: 'SSE chunk, gzip',
    unit: 'chunk',
    clientSees: 'sse-usage-gzip',
    connections: 100,
    warmUpAnswers: 100,
    budget: { first: 4.0, next: 3.0 },
  },
];

export const BUDGETS = {
  /** Added p50 at 200 calls a second, in milliseconds over the peer's own. */
  addedP50MsOverPeer: { first: 1, next: 0.4 },
  chunkDelayP50Ms: { first: 0.4, next: 0.3 },
  streamKb: { first: 45, next: 36 },
  restMb: { first: 80, next: 70 },
} as const;

export interface RequestOptions {
  readonly variant: VariantName;
  readonly gatewayKey: string;
  /** Streams at the slow pace of the provider, for counting memory. */
  readonly slow?: boolean;
  /** For a gateway that is asked in another way. */
  readonly asked?: AskedWay;
}

export interface AskedWay {
  readonly path?: string;
  readonly authorization?: string;
  readonly userAgent?: string;
  /** Lines in place of the gateway's own headers. */
  readonly headers?: readonly string[];
  /** False: the gateway has to tell the provider by the path, as it must where an address is all that a client is told. */
  readonly namesProvider?: boolean;
}

function requestBody(variant: VariantName): string {
  return JSON.stringify({
    model: 'gpt-4o-mini',
    stream: variant !== 'json',
    ...(variant === 'sse-untouched' || variant === 'sse-gzip' ? { stream_options: { include_usage: true } } : {}),
    temperature: 0.2,
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'Say in one sentence what a gateway is for. '.repeat(18) },
    ],
  });
}

function ownHeaders(gatewayKey: string, namesProvider = true): readonly string[] {
  return [
    `X-Gateway-Key: ${gatewayKey}`,
    ...(namesProvider ? ['X-Gateway-Provider: openai'] : []),
    'X-Gateway-Trace-Id: run-0123456789abcdef',
    'X-Gateway-Span-Path: plan/search',
    'X-Gateway-Span-Name: summarize',
    'X-Gateway-Feature: search',
  ];
}

/** The whole request as bytes: 13 ordinary headers, the gateway's key and provider, and four headers of a run. */
export function requestBytes({ variant, gatewayKey, slow = false, asked = {} }: RequestOptions): Buffer {
  const body = requestBody(variant);
  const lines = [
    `POST ${asked.path ?? '/v1/chat/completions'} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Accept: application/json',
    'Content-Type: application/json',
    `User-Agent: ${asked.userAgent ?? 'OpenAI/Python 1.99.0'}`,
    'X-Stainless-Lang: python',
    'X-Stainless-Package-Version: 1.99.0',
    'X-Stainless-OS: Linux',
    'X-Stainless-Arch: x64',
    'X-Stainless-Runtime: CPython',
    'x-stainless-retry-count: 0',
    `Accept-Encoding: ${variant === 'sse-gzip' ? 'gzip, deflate' : 'identity'}`,
    `Authorization: ${asked.authorization ?? 'Bearer sk-bench-0123456789abcdefghijklmnopqrstuvwxyz'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(slow ? ['X-Mock-Pace: slow'] : []),
    ...(asked.headers ?? ownHeaders(gatewayKey, asked.namesProvider)),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
