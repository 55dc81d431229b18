/** DeepSeek: the chat API with and without `/v1`, `/beta`, and the messages API. Source: api-docs.deepseek.com. */

import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import { freeEndpoint, meteredEndpoint, readFromTable, UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import type { UsageFormatName } from './format-names.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider } from './provider.ts';

/** A web tool is billed by request; only its path names it. */
function toolEndpoint(name: string, format: UsageFormatName): Endpoint {
  return Object.freeze({
    ...meteredEndpoint(name.replace('/', '.'), format),
    model: { in: 'path', name },
    streamed: false,
  } satisfies Endpoint);
}

const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/tools/search', toolEndpoint('tools/search', 'web-search')],
    ['/tools/fetch', toolEndpoint('tools/fetch', 'web-fetch')],
  ]),
  resources: [{ root: '/user/balance', free: freeEndpoint('user.balance'), posted: null }],
});

export const deepseek = Object.freeze({
  name: 'deepseek',
  displayName: 'DeepSeek',
  catalogId: 'deepseek',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'DEEPSEEK_API_KEY' },
  baseVariables: [
    { name: 'DEEPSEEK_BASE_URL', path: '/v1' },
    { name: 'DEEPSEEK_API_BASE', path: '/v1' },
  ],
  isNamedInAddress: true,
  errorFamily: 'chat',
  origin: () => 'https://api.deepseek.com',
  defaultRegion: null,
  ownsHost: (host) => host === 'api.deepseek.com',
  // `sk-` as at OpenAI, followed by exactly 32 hexadecimal digits.
  credentialForm: /^sk-[\da-f]{32}$/,
  isOwnClient: () => false,
  claims: () => false,
  // The chat API needs no /v1 here, so only the messages API can lack a prefix.
  repairPath: (path) =>
    readUndoubled(path, '/v1') ??
    (path.startsWith('/anthropic/v1/v1/') ? path.replace('/v1/v1/', '/v1/') : null) ??
    (isMessagesRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => (isAtOrBelow(path, '/v1/messages') ? `/anthropic${path}` : path),
  endpoint: ({ method, path, query }) => {
    const messages = readRest(path, '/anthropic/v1');
    if (messages !== null) return readMessagesApiEndpoint(method, messages) ?? UNKNOWN_ENDPOINT;
    const rest = readRest(path, '/v1') ?? readRest(path, '/beta/v1') ?? readRest(path, '/beta') ?? path;
    return readFromTable(OWN, method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: () => false,
  requestIdHeaders: ['x-request-id', 'x-ds-trace-id', 'cf-ray'],
  errorTypeHeader: null,
  region: () => null,
} as const satisfies Provider);
