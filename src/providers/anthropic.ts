/** Anthropic: the messages API, and a compatible chat API beside it. Source: docs.claude.com, API reference. */
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Provider } from './provider.ts';

/** Paths that other providers have too: the version header, which only this API has, tells them apart. */
const SHARED_ROOTS: readonly string[] = ['/v1/models', '/v1/files', '/v1/skills'];

export const anthropic = Object.freeze({
  name: 'anthropic',
  origin: () => 'https://api.anthropic.com',
  defaultRegion: null,
  claims: ({ path, header }) =>
    isAtOrBelow(path, '/v1/messages') ||
    isAtOrBelow(path, '/v1/complete') ||
    (SHARED_ROOTS.some((root) => isAtOrBelow(path, root)) && header('anthropic-version') !== undefined),
  repairPath: (path) => readUndoubled(path, '/v1') ?? (isMessagesRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1');
    if (rest === null) return UNKNOWN_ENDPOINT;
    return readMessagesApiEndpoint(method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  asksForUsage: () => false,
  requestIdHeaders: ['request-id', 'x-request-id'],
  errorTypeHeader: null,
  signedServices: ['aws-external-anthropic'],
  region: () => null,
} as const satisfies Provider);
