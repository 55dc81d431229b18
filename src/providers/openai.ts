/** OpenAI: where it lives, which paths are its own, what they are called. Source: platform.openai.com, API reference. */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { readRest, readUndoubled } from './path-segment.ts';
import type { Provider } from './provider.ts';

export const openai = Object.freeze({
  name: 'openai',
  origin: () => 'https://api.openai.com',
  defaultRegion: null,
  // Whatever is left of /v1: this provider is asked last.
  claims: (request) => request.path.startsWith('/v1/'),
  repairPath: (path) => readUndoubled(path, '/v1') ?? (isChatApiRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1');
    return rest === null ? UNKNOWN_ENDPOINT : readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: ({ shape, billed }) => shape === 'chat-completions' && billed,
  requestIdHeaders: ['x-request-id'],
  errorTypeHeader: null,
  region: () => null,
} as const satisfies Provider);
