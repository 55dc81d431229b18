/**
 * Sends one request to a provider and hands its answer over as events. The interface is small on purpose: the client
 * beneath (undici's `dispatch`) may be replaced by a leaner one that passes the same byte comparison. It never follows
 * a redirect, never retries, never decodes.
 */
import type { Readable } from 'node:stream';
import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { GatewayErrorCode } from '../errors.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Reasoning models send their headers when they are done: half an hour is seen, so the limit is twice that. */
const HEADERS_TIMEOUT_MS = 60 * 60_000;
/** Between two bytes of an answer. */
const IDLE_TIMEOUT_MS = 15 * 60_000;
/** Below the idle limits of the providers' edges, so that a kept connection is not closed while a call is on its way. */
const KEEP_ALIVE_MS = 30_000;
const KEEP_ALIVE_MAX_MS = 300_000;
const MAX_RESPONSE_HEADER_BYTES = 128 * 1024;

export interface UpstreamRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly method: string;
  /** Path and query, sent byte for byte. */
  readonly path: string;
  /** Flat [name, value, …], without `Host`. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | null;
}

export interface UpstreamFailure {
  readonly code: GatewayErrorCode;
  readonly cause: Error;
}

/** Called in this order; exactly one of `onEnd` and `onFailure` is the last. */
export interface UpstreamEvents {
  /** A connection is ready. `isReused` when it was kept from an earlier call. */
  onConnection(isReused: boolean): void;
  /** The final status line and headers, a flat list as received (Latin-1). Interim (1xx) answers are dropped. */
  onHead(status: number, reason: string, rawHeaders: string[]): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** No answer, or an answer that was cut. */
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamCall {
  abort(): void;
  pause(): void;
  resume(): void;
}

export interface UpstreamClient {
  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall;
  close(): Promise<void>;
}

export interface EgressProxy {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}

const CLIENT_OPTIONS = {
  allowH2: false,
  pipelining: 1,
  connect: { timeout: CONNECT_TIMEOUT_MS },
  headersTimeout: HEADERS_TIMEOUT_MS,
  bodyTimeout: IDLE_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
  maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
} as const;

class Aborted extends Error {}

export function createUpstreamClient(egress: EgressProxy): UpstreamClient {
  const usesProxy = egress.httpProxy !== null || egress.httpsProxy !== null;
  const proxyAgent = usesProxy
    ? new EnvHttpProxyAgent({
        ...CLIENT_OPTIONS,
        ...(egress.httpProxy === null ? {} : { httpProxy: egress.httpProxy }),
        ...(egress.httpsProxy === null ? {} : { httpsProxy: egress.httpsProxy }),
        ...(egress.noProxy === null ? {} : { noProxy: egress.noProxy }),
      })
    : null;
  /** One pool an origin; origins come from the provider table and the settings, so there are few. */
  const pools = new Map<string, Pool>();

  function dispatcherFor(origin: string): Dispatcher {
    if (proxyAgent !== null) return proxyAgent;
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, CLIENT_OPTIONS);
      pools.set(origin, pool);
    }
    return pool;
  }

  return {
    send: (request, events) => sendThrough(dispatcherFor(request.origin), request, events),
    async close() {
      await Promise.all([proxyAgent?.destroy(), ...[...pools.values()].map((pool) => pool.destroy())]);
    },
  };
}

function sendThrough(dispatcher: Dispatcher, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
  let controller: Dispatcher.DispatchController | null = null;
  let isAborted = false;
  let isEnded = false;
  let isDispatching = true;

  function fail(error: Error): void {
    if (isEnded) return;
    isEnded = true;
    if (!isAborted) events.onFailure({ code: failureCode(error), cause: error });
  }

  try {
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: method(request.method),
        headers: [...request.headers],
        body: request.body,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (isAborted) started.abort(new Aborted('aborted by the client'));
          else events.onConnection(isDispatching);
        },
        onResponseStart(started, status, _headers, reason) {
          if (status >= 200) events.onHead(status, reason ?? '', readRawHeaders(started.rawHeaders));
        },
        onResponseData(_started, chunk) {
          events.onData(chunk);
        },
        onResponseEnd() {
          if (isEnded) return;
          isEnded = true;
          if (!isAborted) events.onEnd();
        },
        onResponseError(_started, error) {
          fail(error);
        },
      },
    );
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
  isDispatching = false;

  return {
    abort() {
      if (isEnded) return;
      isAborted = true;
      controller?.abort(new Aborted('aborted by the client'));
    },
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
  };
}

/** undici's type lists the common methods; what it sends is any token. */
function method(text: string): Dispatcher.HttpMethod {
  return text as Dispatcher.HttpMethod; // undici checks the value itself against the grammar of a token.
}

function readRawHeaders(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  const flat: string[] = [];
  if (!Array.isArray(raw)) return flat;
  for (const part of raw) flat.push(typeof part === 'string' ? part : part.toString('latin1'));
  return flat;
}

function failureCode(error: Error): GatewayErrorCode {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'upstream_connect_timeout';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'upstream_timeout';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'upstream_name';
  if (
    code.startsWith('HPE_') ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  ) {
    return 'upstream_protocol';
  }
  if (
    code.startsWith('ERR_TLS_') ||
    code.includes('CERT') ||
    code.startsWith('ERR_SSL_') ||
    code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
  ) {
    return 'upstream_tls';
  }
  return 'upstream_unreachable';
}
