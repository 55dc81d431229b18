/**
 * Amazon Bedrock: regional hosts, model and operation in the path (`/model/{id}/converse`), compatible APIs under
 * `/openai/v1` and `/anthropic/v1`. Source: docs.aws.amazon.com, Bedrock API reference. It does not sign requests.
 */
import { isAwsRegion, readAwsHost, runtimeHost } from '../aws-host.ts';
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import {
  countingEndpoint,
  freeEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
} from './endpoint-row.ts';
import { readMeantService } from './meant-service.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { decodeSegment, isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider, RequestLine } from './provider.ts';

const DEFAULT_REGION = 'us-east-1';

const OPERATIONS: ReadonlyMap<string, Endpoint> = new Map(
  [
    { ...meteredEndpoint('converse', 'converse'), streamed: false },
    { ...meteredEndpoint('converse-stream', 'converse'), streamed: true },
    { ...meteredEndpoint('invoke', 'invoke'), streamed: false },
    { ...meteredEndpoint('invoke-with-response-stream', 'invoke'), streamed: true },
    { ...unmeteredEndpoint('invoke-with-bidirectional-stream'), streamed: true },
    countingEndpoint('count-tokens'),
  ].map((endpoint): [string, Endpoint] => [endpoint.family, Object.freeze(endpoint)]),
);

const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([['/async-invoke', { ...unmeteredEndpoint('async-invoke'), streamed: false }]]),
  resources: [
    { root: '/async-invoke', free: freeEndpoint('async-invoke'), posted: null },
    resourceRow('/guardrail', 'guardrail', 'billed'),
    resourceRow('/guardrail-checks', 'guardrail-checks', 'billed'),
  ],
});

/**
 * `/model/{id}/{operation}`. An id that came with its slashes unencoded keeps them: the operation is the last segment.
 */
const MODEL_CALL = /^\/model\/(.+)\/([a-z-]+)$/;

/** `cohere.rerank-v3-5:0`, `amazon.rerank-v1:0`: billed by the query, of which their answers say nothing. */
const RERANKER = /(?:^|[./])(?:amazon|cohere)\.rerank-/;

function readModelId(path: string): string | null {
  const id = MODEL_CALL.exec(path)?.[1];
  return id === undefined ? null : decodeSegment(id);
}

function readEndpoint({ method, path, query }: RequestLine): Endpoint {
  const name = readModelId(path);
  if (name !== null) {
    const operation = path.slice(path.lastIndexOf('/') + 1);
    const endpoint = method === 'POST' ? OPERATIONS.get(operation) : undefined;
    const counts = endpoint?.shape === 'invoke' && RERANKER.test(name) ? ({ countsRequest: 'queries' } as const) : {};
    return { ...(endpoint ?? UNKNOWN_ENDPOINT), ...counts, model: { in: 'path', name } };
  }
  const messages = readRest(path, '/anthropic/v1');
  if (messages !== null) return readMessagesApiEndpoint(method, messages) ?? UNKNOWN_ENDPOINT;
  const chat = readRest(path, '/openai/v1') ?? readRest(path, '/v1');
  if (chat !== null) return readChatApiEndpoint(method, chat, query);
  return readFromTable(OWN, method, path) ?? UNKNOWN_ENDPOINT;
}

const CREDENTIAL_SCOPE = /Credential=[^/,\s]+\/\d{8}\/([^/,\s]+)\//;
const ARN = /^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):/;

/** From the signature's scope, the AWS host that was meant, or the ARN; a bearer key says nothing. */
function readRegion({ path, header }: RequestLine): string | null {
  const candidates = [
    CREDENTIAL_SCOPE.exec(header('authorization') ?? '')?.[1],
    readAwsHost(header('host') ?? '')?.region,
    ARN.exec(readModelId(path) ?? '')?.[1],
  ];
  return candidates.find((candidate) => candidate !== undefined && isAwsRegion(candidate)) ?? null;
}

function originOf(region: string | null): string {
  // A region comes from a client's header and becomes a part of a host name: only what looks like one passes.
  return `https://${runtimeHost(region !== null && isAwsRegion(region) ? region : DEFAULT_REGION)}`;
}

function isOwnHost(host: string): boolean {
  const service = readAwsHost(host)?.service;
  return service === 'bedrock' || service === 'bedrock-mantle';
}

/** Keys for a long time, and for hours. */
const CREDENTIAL = /^(?:bedrock-api-key-|ABSK)/;

const SDK = /^(?:Async)?AnthropicBedrock(?:Mantle)?(?:Client(?:Async)?Impl)?\/|\bapi\/bedrock/i;

/** A client that signs for AWS's host keeps that `Host` on its way through the gateway. */
function isOwnClient(request: RequestLine): boolean {
  const service = readMeantService(request);
  return service === 'bedrock' || service === 'bedrock-mantle';
}

function mapPath(path: string): string {
  if (isAtOrBelow(path, '/v1/messages')) return `/anthropic${path}`;
  if (isAtOrBelow(path, '/v1/chat/completions') || isAtOrBelow(path, '/v1/responses')) return `/openai${path}`;
  return path;
}

function repairPath(path: string): string | null {
  // An AWS client whose endpoint was given a /v1.
  if (path.startsWith('/v1/model/')) return path.slice('/v1'.length);
  if (path.startsWith('/anthropic/v1/v1/') || path.startsWith('/openai/v1/v1/')) return path.replace('/v1/v1/', '/v1/');
  const isBare = isMessagesRoot(path) || isAtOrBelow(path, '/chat/completions') || isAtOrBelow(path, '/responses');
  return readUndoubled(path, '/v1') ?? (isBare ? `/v1${path}` : null);
}

export const bedrock = Object.freeze({
  name: 'bedrock',
  origin: originOf,
  defaultRegion: DEFAULT_REGION,
  ownsHost: isOwnHost,
  credentialForm: CREDENTIAL,
  isOwnClient,
  isOwnSdk: (userAgent) => SDK.test(userAgent),
  claims: ({ path }) =>
    path.startsWith('/model/') ||
    isAtOrBelow(path, '/async-invoke') ||
    isAtOrBelow(path, '/guardrail') ||
    isAtOrBelow(path, '/guardrail-checks'),
  repairPath,
  mapPath,
  endpoint: readEndpoint,
  asksForUsage: () => false,
  requestIdHeaders: ['x-amzn-requestid'],
  errorTypeHeader: 'x-amzn-errortype',
  signedServices: ['bedrock', 'bedrock-mantle'],
  region: readRegion,
} as const satisfies Provider);
