/**
 * The way out through an egress proxy (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`), by undici: tunnels and their
 * authentication are a library's business. Loaded only where such a proxy is configured.
 */
import type { LookupFunction } from 'node:net';
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { lookUpPublic } from './private-addresses.ts';
import type {
  EgressProxy,
  UpgradeEvents,
  UpstreamCall,
  UpstreamClient,
  UpstreamEvents,
  UpstreamRequest,
} from './upstream.ts';
import { describeFailure, UpstreamError } from './upstream-failure.ts';
import type { UpstreamLimits } from './upstream-limits.ts';

const MAX_RESPONSE_HEADER_BYTES = 128 * 1024;

/**
 * What goes through the proxy is resolved there; `lookUp` is for the hosts that need none, and for the proxy itself.
 */
export function createProxiedClient(
  egress: EgressProxy,
  limits: UpstreamLimits,
  lookUp: LookupFunction,
): UpstreamClient {
  const chosen = createAgent(egress, limits, lookUp, lookUp);
  const builtIn = createAgent(egress, limits, lookUpPublic(lookUp), lookUp);
  const agentOf = (request: UpstreamRequest): Dispatcher => (request.mayBePrivate ? chosen : builtIn);
  return {
    send: (request, events) => sendThrough(agentOf(request), request, events, null),
    upgrade: (request, events) => sendThrough(agentOf(request), request, events, events),
    close: async () => {
      await Promise.all([chosen.destroy(), builtIn.destroy()]);
    },
  };
}

function createAgent(
  egress: EgressProxy,
  limits: UpstreamLimits,
  lookUp: LookupFunction,
  lookUpProxy: LookupFunction,
): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({
    allowH2: false,
    pipelining: 1,
    // Of connections without the proxy only.
    connect: { timeout: limits.connectTimeoutMs, lookup: lookUp },
    // To the proxy, with TLS or without. It is the operator's choice, so it may be anywhere.
    proxyTls: { timeout: limits.connectTimeoutMs, lookup: lookUpProxy },
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMaxMs,
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    ...(egress.httpProxy === null ? {} : { httpProxy: egress.httpProxy }),
    ...(egress.httpsProxy === null ? {} : { httpsProxy: egress.httpsProxy }),
    ...(egress.noProxy === null ? {} : { noProxy: egress.noProxy }),
  });
}

/** `upgrade` are the same events where the request is a websocket handshake, else null. */
function sendThrough(
  dispatcher: Dispatcher,
  request: UpstreamRequest,
  events: UpstreamEvents,
  upgrade: UpgradeEvents | null,
): UpstreamCall {
  let controller: Dispatcher.DispatchController | null = null;
  let isAborted = false;
  let isEnded = false;
  let isDispatching = true;

  function fail(error: Error): void {
    if (isEnded) return;
    isEnded = true;
    if (!isAborted) events.onFailure(describeFailure(error));
  }

  try {
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: method(request.method),
        headers: [
          ...(request.host == null ? [] : ['host', request.host]),
          ...request.headers,
          ...(request.bodyBytes === null ? [] : ['content-length', String(request.bodyBytes)]),
        ],
        body: request.body,
        ...(upgrade === null ? {} : { upgrade: 'websocket' }),
      },
      {
        onRequestStart(started) {
          controller = started;
          if (isAborted) started.abort(new UpstreamError('CLIENT_CLOSED'));
          else events.onConnection(isDispatching);
        },
        onRequestUpgrade(started, _status, _headers, socket) {
          if (isEnded) return;
          isEnded = true;
          if (isAborted || upgrade === null) socket.destroy();
          // undici has put back what came behind the head, and does not tell the reason phrase.
          else upgrade.onSwitch('Switching Protocols', readRawHeaders(started.rawHeaders), socket, Buffer.alloc(0));
        },
        onResponseStart(started, status, _headers, reason) {
          if (status >= 200) events.onHead(status, reason ?? '', readRawHeaders(started.rawHeaders));
        },
        onResponseData(_started, chunk) {
          events.onData(chunk);
        },
        onResponseEnd(ended) {
          if (isEnded) return;
          isEnded = true;
          if (isAborted) return;
          const rawTrailers = readRawHeaders(ended.rawTrailers);
          if (rawTrailers.length > 0) events.onTrailers(rawTrailers);
          events.onEnd();
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
      controller?.abort(new UpstreamError('CLIENT_CLOSED'));
    },
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    // undici chooses its connections by itself.
    expectEnd: () => {},
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
