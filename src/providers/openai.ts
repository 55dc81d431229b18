/** OpenAI: its hosts, paths and endpoints. Source: platform.openai.com, API reference. */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT, websocketEndpoint } from './endpoint-row.ts';
import { readRest, readUndoubled } from './path-segment.ts';
import type { Provider, SnippetTemplate, WebsocketEndpoint } from './provider.ts';

const WEBSOCKETS: ReadonlyMap<string, WebsocketEndpoint> = new Map([
  ['/realtime', websocketEndpoint('realtime', 'realtime')],
  ['/realtime/translations', websocketEndpoint('realtime.translations', 'realtime')],
  ['/responses', websocketEndpoint('responses.websocket', 'responses-session')],
  ['/live/sessions', websocketEndpoint('live', 'live-session')],
]);

/** A fork is its own session; attaching to a session reports that session's usage. */
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

const SNIPPETS: readonly SnippetTemplate[] = [
  {
    id: 'openai-python',
    label: 'OpenAI SDK, Python',
    language: 'python',
    code: `{imports}
from openai import OpenAI

client = OpenAI(
    base_url="{base}/v1",
    default_headers={
        {headers}
    },
)
?{trace}

answer = client.chat.completions.create(
    model="gpt-5.4-mini",
    messages=[{"role": "user", "content": "Say hello."}],
?    extra_headers={
?        {run headers}
?    },
)
print(answer.choices[0].message.content)`,
    pitfall:
      'Keep /v1 in the base address. Header values are ASCII here: percent-encode anything else. OPENAI_API_BASE is the name of old versions and is ignored.',
  },
  {
    id: 'openai-node',
    label: 'OpenAI SDK, Node',
    language: 'js',
    code: `import OpenAI from "openai";

const openai = new OpenAI({
  baseURL: "{base}/v1",
  defaultHeaders: {
    {headers}
  },
});
?{trace}

const answer = await openai.chat.completions.create(
  { model: "gpt-5.4-mini", messages: [{ role: "user", content: "Say hello." }] },
?  {
?    headers: {
?      {run headers}
?    },
?  },
);
console.log(answer.choices[0].message.content);`,
    pitfall:
      'Keep /v1 in the base address. Azure and realtime clients are others: realtime uses WebSocket, which is not relayed.',
  },
];

export const openai = Object.freeze({
  name: 'openai',
  displayName: 'OpenAI',
  catalogId: 'openai',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'OPENAI_API_KEY' },
  baseVariables: [
    { name: 'OPENAI_BASE_URL', path: '/v1' },
    { name: 'OPENAI_API_BASE', path: '/v1' },
  ],
  errorFamily: 'chat',
  loggedHeaders: {
    request: ['openai-beta', 'openai-organization', 'openai-project'],
    answer: ['openai-processing-ms', 'openai-version'],
  },
  opaqueModelId: /^ft:/i,
  origin: () => 'https://api.openai.com',
  snippets: SNIPPETS,
  defaultRegion: null,
  ownsHost: (host) => /^(?:[\w-]+\.)?api\.openai\.com$/.test(host),
  // Keys of projects, service accounts and administrators, the mark in every key, and realtime client secrets.
  credentialForm: /^(?:sk-(?:proj|svcacct|admin|None)-|sk-[\w-]{0,100}T3BlbkFJ|ek_[\da-zA-Z]{16})/,
  isOwnClient: () => false,
  claimsTheRest: true,
  claims: (request) => request.path.startsWith('/v1/'),
  repairPath: (path) => readUndoubled(path, '/v1') ?? (isChatApiRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1');
    return rest === null ? UNKNOWN_ENDPOINT : readChatApiEndpoint(method, rest, query);
  },
  websocket: ({ path }) => readWebsocket(readRest(path, '/v1') ?? ''),
  asksForUsage: ({ format, billed }) => format === 'chat-completions' && billed,
  reportsTerms: true,
  requestIdHeaders: ['x-request-id'],
  errorTypeHeader: null,
  placeOfHost: (host) => RESIDENCY_HOST.exec(host.toLowerCase())?.[1] ?? null,
  region: () => null,
} as const satisfies Provider);
