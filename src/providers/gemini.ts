/**
 * The Gemini API: model and verb stand in the path (`/v1beta/models/{model}:{verb}`), in version `v1`, `v1beta` or
 * `v1alpha`.
 * Source: ai.google.dev, API reference. Vertex AI is another host and not this provider.
 */
import { readChatApiEndpoint } from './chat-api-endpoints.ts';
import {
  countingEndpoint,
  fetchedEndpoint,
  freeEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
  websocketEndpoint,
} from './endpoint-row.ts';
import { decodeSegment, isAtOrBelow, readRest, readUndoubled } from './path-segment.ts';
import type { Endpoint, Provider, RequestLine, WebsocketEndpoint } from './provider.ts';

const VERBS: ReadonlyMap<string, Endpoint> = new Map(
  [
    meteredEndpoint('generateContent', 'generate-content'),
    { ...meteredEndpoint('streamGenerateContent', 'generate-content'), streamed: true },
    meteredEndpoint('embedContent', 'gemini-embeddings'),
    meteredEndpoint('batchEmbedContents', 'gemini-embeddings'),
    { ...meteredEndpoint('asyncBatchEmbedContent', 'gemini-batch'), isBatch: true },
    { ...meteredEndpoint('batchGenerateContent', 'gemini-batch'), isBatch: true },
    countingEndpoint('countTokens'),
    meteredEndpoint('predict', 'imagen'),
    // Billed by the second of video, which no answer tells.
    unmeteredEndpoint('predictLongRunning'),
    unmeteredEndpoint('generateAnswer'),
    unmeteredEndpoint('generateText'),
    unmeteredEndpoint('generateMessage'),
  ].map((endpoint): [string, Endpoint] => [
    endpoint.family,
    // The model is in the path, and nothing in the body says whether the answer is a stream.
    Object.freeze({ ...endpoint, streamed: endpoint.streamed === true }),
  ]),
);

const RESOURCES = Object.freeze({
  posts: new Map<string, Endpoint>([['/interactions', meteredEndpoint('interactions', 'interactions')]]),
  resources: [
    resourceRow('/interactions', 'interactions', 'free'),
    resourceRow('/models', 'models', 'free'),
    resourceRow('/tunedModels', 'tunedModels', 'free'),
    resourceRow('/files', 'files', 'free'),
    resourceRow('/files:register', 'files', 'free'),
    resourceRow('/batches', 'batches', 'free'),
    resourceRow('/operations', 'operations', 'free'),
    resourceRow('/corpora', 'corpora', 'free'),
    resourceRow('/auth_tokens', 'auth_tokens', 'free'),
    resourceRow('/cachedContents', 'cachedContents', 'billed'),
    resourceRow('/fileSearchStores', 'fileSearchStores', 'billed'),
  ],
  // Putting a file into it is billed, as embedding.
  freePosts: /^\/fileSearchStores$/,
});

/** `/models/{model}:{verb}`; some clients encode the colon. */
const MODEL_CALL = /^\/(models|tunedModels)\/([^/]+)(?::|%3[Aa])([A-Za-z]+)$/;

const OPERATIONS = freeEndpoint('operations');

const FETCHED_INTERACTION = fetchedEndpoint('interactions', 'interactions', false);
/** `GET /interactions/{id}?stream=true` replays what was made so far, and goes on. */
const REPLAYED_INTERACTION = Object.freeze({ ...FETCHED_INTERACTION, streamed: true } satisfies Endpoint);
const FETCHED_BATCH = fetchedEndpoint('batches', 'gemini-batch', true);

/** A file of results. Other files have no usage in them. */
const FETCHED_FILE = fetchedEndpoint('files', 'gemini-batch', true);
const FILE = /^\/(files\/[^/]+):download$/;

const STREAM_IN_QUERY = /(?:^|&)stream=true(?:&|$)/;

/** What was asked for earlier; stopping an interaction hands over what was made of it. */
function readFetched(method: string, rest: string, query: string): Endpoint | null {
  const file = method === 'GET' ? FILE.exec(rest)?.[1] : undefined;
  if (file !== undefined) return { ...FETCHED_FILE, resultId: file };
  const [, root, action] = /^\/(interactions|batches)\/[^/:]+(\/cancel)?$/.exec(rest) ?? [];
  if (root === undefined || method !== (action === undefined ? 'GET' : 'POST')) return null;
  if (root === 'batches') return action === undefined ? FETCHED_BATCH : null;
  return STREAM_IN_QUERY.test(query) ? REPLAYED_INTERACTION : FETCHED_INTERACTION;
}

function readModelCall(rest: string): Endpoint | null {
  const [, collection, model = '', verb = ''] = MODEL_CALL.exec(rest) ?? [];
  if (collection === undefined) return null;
  const name = collection === 'models' ? decodeSegment(model) : `${collection}/${decodeSegment(model)}`;
  return { ...(VERBS.get(verb) ?? UNKNOWN_ENDPOINT), model: { in: 'path', name } };
}

/** The path behind the version. Files are sent and fetched under roots of their own. */
const VERSIONED = /^(?:\/upload|\/download)?\/v1(?:beta|alpha)?(\/.*?)\/?$/;

const COMPATIBLE = /^\/v1(?:beta)?\/openai\//;

function readEndpoint({ method, path, query }: RequestLine): Endpoint {
  const compatible = readRest(path, '/v1beta/openai') ?? readRest(path, '/v1/openai');
  if (compatible !== null) return readChatApiEndpoint(method, compatible, query);
  const rest = VERSIONED.exec(path)?.[1];
  if (rest === undefined) return UNKNOWN_ENDPOINT;
  const call = method === 'POST' ? readModelCall(rest) : null;
  if (call !== null) return call;
  if (rest.includes('/operations/')) return OPERATIONS;
  return readFetched(method, rest, query) ?? readFromTable(RESOURCES, method, rest) ?? UNKNOWN_ENDPOINT;
}

/** The first segments of version `v1` that no other provider has. */
const OWN_ROOTS: readonly string[] = [
  '/v1/interactions',
  '/v1/tunedModels',
  '/v1/cachedContents',
  '/v1/fileSearchStores',
];

/** API keys of both kinds, tokens of OAuth, and the short-lived ones for browsers. */
const CREDENTIAL = /^(?:AIza|AQ\.|ya29\.|auth_tokens\/)/;

const KEY_IN_QUERY = /(?:^|&)key=/;

/** The version is a part of the one segment that names the method. */
const WEBSOCKET = /^\/ws\/google\.ai\.generativelanguage\.[\w]+\.GenerativeService\.(\w+)$/;

const METHODS: ReadonlyMap<string, WebsocketEndpoint> = new Map([
  ['BidiGenerateContent', websocketEndpoint('bidiGenerateContent', 'bidi-generate-content')],
  ['BidiGenerateContentConstrained', websocketEndpoint('bidiGenerateContent', 'bidi-generate-content')],
  ['BidiGenerateMusic', websocketEndpoint('bidiGenerateMusic', 'opaque-session')],
]);

function claims({ method, path }: RequestLine): boolean {
  if (
    isAtOrBelow(path, '/v1beta') ||
    isAtOrBelow(path, '/v1alpha') ||
    /^\/(?:up|down)load\//.test(path) ||
    WEBSOCKET.test(path)
  )
    return true;
  if (OWN_ROOTS.some((root) => isAtOrBelow(path, root))) return true;
  // Reading `/v1/models/ft:model:organisation` is not a call of a verb: other providers have colons in model ids.
  const isReading = method === 'GET' || method === 'HEAD' || method === 'DELETE';
  return !isReading && path.startsWith('/v1/') && MODEL_CALL.test(path.slice('/v1'.length));
}

const VERSIONS: readonly string[] = ['/v1', '/v1beta', '/v1alpha'];

/** Files and websockets have roots of their own in front of the version. */
const WITH_VERSION_IN_FRONT =
  /^\/v1(?:beta|alpha)?(\/(?:up|down)load\/v1(?:beta|alpha)?\/.*|\/ws\/google\.ai\.[\w.]+)$/;

/** The client adds a version to a base address that has one already; the client's own is the one meant. */
function repairPath(path: string): string | null {
  for (const version of VERSIONS)
    if (VERSIONS.some((own) => path.startsWith(`${version}${own}/`))) return path.slice(version.length);
  const inner = WITH_VERSION_IN_FRONT.exec(path)?.[1];
  if (inner !== undefined) return inner;
  // The client's own base address ends with a slash, and it adds another.
  if (path.startsWith('//') && WEBSOCKET.test(path.slice(1))) return path.slice(1);
  return MODEL_CALL.test(path) ? `/v1beta${path}` : readUndoubled(path, '/upload');
}

export const gemini = Object.freeze({
  name: 'gemini',
  origin: () => 'https://generativelanguage.googleapis.com',
  defaultRegion: null,
  ownsHost: (host) => host === 'generativelanguage.googleapis.com',
  credentialForm: CREDENTIAL,
  credentialHeader: 'x-goog-api-key',
  isOwnClient: ({ query, header }) => header('x-goog-api-key') !== undefined || KEY_IN_QUERY.test(query),
  isOwnSdk: (userAgent) => /^google-genai-sdk\/|^GeminiCLI/.test(userAgent),
  claims,
  repairPath,
  mapPath: (path) => path,
  endpoint: readEndpoint,
  websocket: ({ path }) => METHODS.get(WEBSOCKET.exec(path)?.[1] ?? '') ?? null,
  asksForUsage: () => false,
  // None is reliable; the answer's `responseId` is in its body.
  requestIdHeaders: [],
  errorTypeHeader: null,
  // The compatible API has OpenAI's clients.
  hasNumericErrors: (path) => !COMPATIBLE.test(path),
  region: () => null,
} as const satisfies Provider);
