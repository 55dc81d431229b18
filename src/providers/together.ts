/** Together AI: the chat API under `/v1`, videos under `/v2`, the messages API. Source: docs.together.ai. */
import { isChatApiRoot, readChatApiEndpoint } from './chat-api-endpoints.ts';
import {
  batchEndpoint,
  fetchedEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
  websocketEndpoint,
} from './endpoint-row.ts';
import { isMessagesRoot, readMessagesApiEndpoint } from './messages-api-endpoints.ts';
import { readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider, WebsocketEndpoint } from './provider.ts';

const OWN = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/tci/execute', unmeteredEndpoint('tci.execute')],
    ['/rerank', Object.freeze({ ...meteredEndpoint('rerank', 'embeddings'), streamed: false })],
    // Billed once its result files exist, which do not tell the sum.
    ['/batches', batchEndpoint('batches')],
    ['/videos', Object.freeze({ ...meteredEndpoint('videos', 'video-job'), streamed: false })],
  ]),
  resources: [
    resourceRow('/batches', 'batches', 'free'),
    resourceRow('/tci', 'tci', 'billed'),
    resourceRow('/endpoints', 'endpoints', 'billed'),
    resourceRow('/deployments', 'deployments', 'billed'),
    resourceRow('/queue', 'queue', 'billed'),
    resourceRow('/compute', 'compute', 'billed'),
    resourceRow('/projects', 'projects', 'billed'),
    resourceRow('/evaluation', 'evaluation', 'billed'),
    resourceRow('/clusters', 'clusters', 'free'),
    resourceRow('/finetune', 'fine-tunes', 'free'),
    resourceRow('/hardware', 'hardware', 'free'),
    resourceRow('/jobs', 'jobs', 'free'),
    resourceRow('/organizations', 'organizations', 'free'),
    resourceRow('/public', 'public', 'free'),
    resourceRow('/supported-models', 'models', 'free'),
    resourceRow('/voices', 'voices', 'free'),
  ],
  // Deployments and machines are billed by time, not by call.
  freePosts:
    /^\/projects\/(?!.*\/deployments$)|^\/endpoints\/[^/]+\/adapters$|^\/deployments\/secrets$|^\/queue\/(?:cancel|clear)$|\/remediations(?:\/|$)/,
});

const FETCHED_VIDEO = fetchedEndpoint('videos', 'video-job', false);

/** By the unversioned path; neither reports usage. */
const WEBSOCKETS: ReadonlyMap<string, WebsocketEndpoint> = new Map([
  ['/realtime', websocketEndpoint('realtime', 'realtime')],
  ['/audio/speech/websocket', websocketEndpoint('audio.speech.websocket', 'realtime')],
]);

export const together = Object.freeze({
  name: 'together',
  displayName: 'Together',
  catalogId: 'together',
  credential: { header: 'Authorization', prefix: 'Bearer ', variable: 'TOGETHER_API_KEY' },
  baseVariables: [
    { name: 'TOGETHER_BASE_URL', path: '' },
    { name: 'TOGETHER_AI_API_BASE', path: '/v1' },
  ],
  isNamedInAddress: true,
  errorFamily: 'chat',
  origin: () => 'https://api.together.ai',
  defaultRegion: null,
  otherHosts: ['api.together.xyz'],
  ownsHost: (host) => /(?:^|\.)together\.(?:ai|xyz)$/.test(host),
  credentialForm: /^(?:tgp_v1_|[\da-f]{64}$)/,
  isOwnClient: () => false,
  isOwnSdk: (userAgent) => /^(?:Async)?Together\//.test(userAgent),
  claims: () => false,
  repairPath: (path) =>
    readUndoubled(path, '/v1') ?? (isChatApiRoot(path) || isMessagesRoot(path) ? `/v1${path}` : null),
  mapPath: (path) => path,
  endpoint: ({ method, path, query }) => {
    const rest = readRest(path, '/v1') ?? readRest(path, '/v2');
    if (rest === null) return UNKNOWN_ENDPOINT;
    if (isMessagesRoot(rest)) return readMessagesApiEndpoint(method, rest) ?? UNKNOWN_ENDPOINT;
    if (method === 'GET' && /^\/videos\/[^/]+$/.test(rest)) return FETCHED_VIDEO;
    return readFromTable(OWN, method, rest) ?? readChatApiEndpoint(method, rest, query);
  },
  websocket: ({ path }) => WEBSOCKETS.get(readRest(path, '/v1') ?? '') ?? null,
  // Most models report usage in a stream unasked, and hiding it would change what a direct call shows. Streams of the
  // few others are recorded without usage.
  asksForUsage: () => false,
  requestIdHeaders: ['x-request-id', 'cf-ray'],
  errorTypeHeader: null,
  region: () => null,
} as const satisfies Provider);
