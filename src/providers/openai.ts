/**
 * OpenAI: where it lives, which paths are its own, what they are called. Source: platform.openai.com, API reference.
 */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT, websocketEndpoint } from './endpoint-row.ts';
import { readRest, readUndoubled } from './path-segment.ts';
import type { Provider, WebsocketEndpoint } from './provider.ts';

/** By the path behind the version. */
const WEBSOCKETS: ReadonlyMap<string, WebsocketEndpoint> = new Map([
  ['/realtime', websocketEndpoint('realtime', 'realtime')],
  ['/realtime/translations', websocketEndpoint('realtime.translations', 'realtime')],
  ['/responses', websocketEndpoint('responses.websocket', 'responses-session')],
  ['/live/sessions', websocketEndpoint('live', 'live-session')],
]);

/** A fork is a session of its own; who attaches to one is told the usage that is the session's. */
const LIVE_FORK = /^\/live\/sessions\/[^/]+\/fork$/;
const LIVE_ATTACHED = /^\/live\/sessions\/[^/]+\/attach$/;
const FORKED = websocketEndpoint('live', 'live-session');
const ATTACHED = websocketEndpoint('live.attach', 'opaque-session');

function readWebsocket(rest: string): WebsocketEndpoint | null {
  if (LIVE_FORK.test(rest)) return FORKED;
  if (LIVE_ATTACHED.test(rest)) return ATTACHED;
  return WEBSOCKETS.get(rest) ?? null;
}

/** Data residency: `eu.api.openai.com`. Source: OpenAI, guide "Data residency", November 2026. */
const RESIDENCY_HOST = /^([a-z]{2})\.api\.openai\.com$/;

export const openai = Object.freeze({
  name: 'openai',
  origin: () => 'https://api.openai.com',
  defaultRegion: null,
  ownsHost: (host) => /^(?:[\w-]+\.)?api\.openai\.com$/.test(host),
  // Of projects, service accounts and administrators, and the mark that all keys have; client secrets of realtime.
  credentialForm: /^(?:sk-(?:proj|svcacct|admin|None)-|sk-[\w-]{0,100}T3BlbkFJ|ek_[\da-zA-Z]{16})/,
  isOwnClient: () => false,
  // Whatever is left of /v1: this provider is asked last.
  claims: (request) => request.path.startsWith('/v1/'),
  repairPath: (path) => readUndoubled(path, '/v1') ?? (isChatApiRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1');
    return rest === null ? UNKNOWN_ENDPOINT : readChatApiEndpoint(method, rest, query);
  },
  websocket: ({ path }) => readWebsocket(readRest(path, '/v1') ?? ''),
  asksForUsage: ({ shape, billed }) => shape === 'chat-completions' && billed,
  requestIdHeaders: ['x-request-id'],
  errorTypeHeader: null,
  placeOfHost: (host) => RESIDENCY_HOST.exec(host.toLowerCase())?.[1] ?? null,
  region: () => null,
} as const satisfies Provider);
