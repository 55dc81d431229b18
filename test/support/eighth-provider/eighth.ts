/** An invented provider, as its one file in `src/providers` would be: a test adds it to the registry. */
import { readChatApiEndpoint } from '../../../src/providers/chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT } from '../../../src/providers/endpoint-row.ts';
import { readRest, readUndoubled } from '../../../src/providers/path-segment.ts';
import type { Provider } from '../../../src/providers/provider.ts';

export const eighth = Object.freeze({
  name: 'eighth',
  displayName: 'Eighth',
  catalogId: 'eighth',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'EIGHTH_API_KEY' },
  baseVariables: [{ name: 'EIGHTH_BASE_URL', path: '/v1' }],
  errorFamily: 'chat',
  loggedHeaders: { request: ['eighth-beta'], answer: ['eighth-region'], answerPrefixes: ['eighth-quota-'] },
  origin: () => 'https://api.eighth.example',
  defaultRegion: null,
  ownsHost: (host) => host === 'api.eighth.example',
  credentialForm: /^e8-/,
  isOwnClient: () => false,
  isOwnSdk: (userAgent) => userAgent.startsWith('Eighth/'),
  claims: ({ path }) => path.startsWith('/eighth/v1/'),
  repairPath: (path) => readUndoubled(path, '/eighth'),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/eighth/v1');
    return rest === null ? UNKNOWN_ENDPOINT : readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: () => false,
  requestIdHeaders: ['x-request-id'],
  errorTypeHeader: null,
  region: () => null,
} as const satisfies Provider);
