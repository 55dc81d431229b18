/** Anthropic: the messages API, and a compatible chat API beside it. Source: docs.claude.com, API reference. */
import { readAwsHost } from '../aws-host.ts';
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { readMeantService } from './meant-service.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Provider, RequestLine } from './provider.ts';

/** Where others serve this API, or its clients theirs: the same header is sent there, and tells nothing. */
const OF_OTHERS = /^(?:\/v1)?\/(?:model|anthropic|openai|inference)\//;

/** The keys of its own console, and of its platform on AWS: short-lived and long-lived. */
const CREDENTIAL = /^(?:sk-ant-|aws-external-anthropic-api-key-|AEAA[\w+/-]{20})/;

function isOwnClient(request: RequestLine): boolean {
  const service = readMeantService(request);
  if (service !== null) return service === 'aws-external-anthropic';
  return request.header('anthropic-version') !== undefined && !OF_OTHERS.test(request.path);
}

const SDK = /^(?:(?:Async)?Anthropic(?:Client(?:Async)?Impl)?|claude-cli|claude-code)\//;

export const anthropic = Object.freeze({
  name: 'anthropic',
  origin: () => 'https://api.anthropic.com',
  defaultRegion: null,
  ownsHost: (host) => host === 'api.anthropic.com' || readAwsHost(host)?.service === 'aws-external-anthropic',
  credentialForm: CREDENTIAL,
  isOwnClient,
  isOwnSdk: (userAgent, path) => SDK.test(userAgent) && !OF_OTHERS.test(path),
  claims: ({ path }) => isAtOrBelow(path, '/v1/messages') || isAtOrBelow(path, '/v1/complete'),
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
