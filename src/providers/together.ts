/** Together AI: the chat API under `/v1` (and videos under `/v2`), the messages API beside it. Source: docs.together.ai. */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import { readFromTable, resourceRow, UNKNOWN_ENDPOINT, unmeteredEndpoint } from './endpoint-row.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider } from './provider.ts';

/** What is Together's own, behind the version. */
const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([['/tci/execute', unmeteredEndpoint('tci.execute')]]),
  resources: [
    resourceRow('/tci', 'tci', 'billed'),
    resourceRow('/endpoints', 'endpoints', 'billed'),
    resourceRow('/deployments', 'deployments', 'billed'),
    resourceRow('/queue', 'queue', 'billed'),
    resourceRow('/compute', 'compute', 'billed'),
    resourceRow('/projects', 'projects', 'free'),
  ],
});

export const together = Object.freeze({
  name: 'together',
  origin: () => 'https://api.together.ai',
  defaultRegion: null,
  claims: () => false,
  repairPath: (path) =>
    readUndoubled(path, '/v1') ?? (isChatApiRoot(path) || isMessagesRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1') ?? readRest(path, '/v2');
    if (rest === null) return UNKNOWN_ENDPOINT;
    if (isMessagesRoot(rest)) return readMessagesApiEndpoint(method, rest) ?? UNKNOWN_ENDPOINT;
    return readFromTable(OWN, method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  // Some of its models put usage into a stream only when asked; asking the others changes nothing.
  asksForUsage: ({ shape, billed }) => shape === 'chat-completions' && billed,
  requestIdHeaders: ['x-request-id', 'cf-ray'],
  region: () => null,
} as const satisfies Provider);
