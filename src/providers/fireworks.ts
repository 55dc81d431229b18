/** Fireworks AI: chat and messages APIs under `/inference/v1`. Source: docs.fireworks.ai. */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import { meteredEndpoint, readFromTable, resourceRow, UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider } from './provider.ts';

const CONTROL_PLANE = Object.freeze({ posts: new Map(), resources: [resourceRow('/accounts', 'accounts', 'billed')] });

/** Image models are called by workflow: `/workflows/accounts/…/text_to_image`. */
const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/rerank', Object.freeze({ ...meteredEndpoint('rerank', 'embeddings'), streamed: false })],
  ]),
  resources: [resourceRow('/workflows', 'workflows', 'billed')],
});

export const fireworks = Object.freeze({
  name: 'fireworks',
  displayName: 'Fireworks',
  catalogId: 'fireworks',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'FIREWORKS_API_KEY' },
  baseVariables: [
    { name: 'FIREWORKS_BASE_URL', path: '' },
    { name: 'FIREWORKS_API_BASE', path: '/v1' },
  ],
  isNamedInAddress: true,
  errorFamily: 'chat',
  // Deployments, and models of other accounts than its own.
  opaqueModelId: /#|\/deployments\/|^accounts\/(?!fireworks\/)/i,
  origin: () => 'https://api.fireworks.ai',
  defaultRegion: null,
  ownsHost: (host) => /(?:^|\.)fireworks\.ai$/.test(host),
  // Source: Fireworks, "Serving paths" (calls kept in the United States cost more), November 2026.
  placeOfHost: (host) => (host === 'us.api.fireworks.ai' ? 'us' : null),
  credentialForm: /^fw_/,
  isOwnClient: () => false,
  isOwnSdk: (userAgent) => /^(?:Async)?Fireworks\//.test(userAgent),
  claims: () => false,
  repairPath: (path) => {
    if (path.startsWith('/inference/v1/v1/')) return path.replace('/v1/v1/', '/v1/');
    return (
      readUndoubled(path, '/v1') ??
      readUndoubled(path, '/inference') ??
      (isChatApiRoot(path) || isMessagesRoot(path) ? `/v1${path}` : null)
    );
  },
  mapPath: (path) => (isAtOrBelow(path, '/v1') && !isAtOrBelow(path, '/v1/accounts') ? `/inference${path}` : path),
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/inference/v1');
    if (rest === null) return readFromTable(CONTROL_PLANE, method, readRest(path, '/v1') ?? '') ?? UNKNOWN_ENDPOINT;
    if (isMessagesRoot(rest)) return readMessagesApiEndpoint(method, rest) ?? UNKNOWN_ENDPOINT;
    return readFromTable(OWN, method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: () => false,
  // Source: Fireworks, "Serving paths" (a call without room on its tier is refused), November 2026.
  isTierAsAsked: true,
  requestIdHeaders: ['x-request-id', 'cf-ray'],
  errorTypeHeader: null,
  region: () => null,
} as const satisfies Provider);
