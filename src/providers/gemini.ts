/** The Gemini API, not Vertex AI. Source: ai.google.dev, API reference. */
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
import type { Endpoint, Provider, RequestLine, SnippetTemplate, WebsocketEndpoint } from './provider.ts';

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
    // Billed by the second of video, which no answer reports.
    unmeteredEndpoint('predictLongRunning'),
    unmeteredEndpoint('generateAnswer'),
    unmeteredEndpoint('generateText'),
    unmeteredEndpoint('generateMessage'),
  ].map((endpoint): [string, Endpoint] => [
    endpoint.family,
    // The path alone decides whether the answer is a stream.
    Object.freeze({ ...endpoint, streamed: endpoint.streamed === true }),
  ]),
);

const INTERACTIONS = Object.freeze({
  ...meteredEndpoint('interactions', 'interactions'),
  model: { in: 'body', names: ['model', 'agent'] },
} satisfies Endpoint);

const RESOURCES = Object.freeze({
  posts: new Map<string, Endpoint>([['/interactions', INTERACTIONS]]),
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
  // Adding a file to it is billed as embedding.
  freePosts: /^\/fileSearchStores$/,
});

/** Some clients encode the colon. */
const MODEL_CALL = /^\/(models|tunedModels)\/([^/]+)(?::|%3[Aa])([A-Za-z]+)$/;

const OPERATIONS = freeEndpoint('operations');

const FETCHED_INTERACTION = fetchedEndpoint('interactions', 'interactions', false);
const REPLAYED_INTERACTION = Object.freeze({ ...FETCHED_INTERACTION, streamed: true } satisfies Endpoint);
const FETCHED_BATCH = fetchedEndpoint('batches', 'gemini-batch', true);

/** A file of results; other files have no usage. */
const FETCHED_FILE = fetchedEndpoint('files', 'gemini-batch', true);
const FILE = /^\/(files\/[^/]+):download$/;

const STREAM_IN_QUERY = /(?:^|&)stream=true(?:&|$)/;

/** Earlier results; stopping an interaction returns what was made. */
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

/** Uploads and downloads have roots of their own. */
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

/** First segments of `v1` that no other provider has. */
const OWN_ROOTS: readonly string[] = [
  '/v1/interactions',
  '/v1/tunedModels',
  '/v1/cachedContents',
  '/v1/fileSearchStores',
];

/** API keys of both kinds, OAuth tokens, and short-lived browser tokens. */
const CREDENTIAL = /^(?:AIza|AQ\.|ya29\.|auth_tokens\/)/;

const KEY_IN_QUERY = /(?:^|&)key=/;

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
  // `/v1/models/ft:model:organisation` is a read, not a verb: other providers' model ids contain colons.
  const isReading = method === 'GET' || method === 'HEAD' || method === 'DELETE';
  return !isReading && path.startsWith('/v1/') && MODEL_CALL.test(path.slice('/v1'.length));
}

/** One version behind another. */
const DOUBLE_VERSION = /^\/v1(?:beta|alpha)?(\/v1(?:beta|alpha)?\/.*)$/;

/** Files and websockets have roots in front of the version. */
const WITH_VERSION_IN_FRONT =
  /^\/v1(?:beta|alpha)?(\/(?:up|down)load\/v1(?:beta|alpha)?\/.*|\/ws\/google\.ai\.[\w.]+)$/;

/** When a base address already has a version, the client's own added version is meant. */
function repairPath(path: string): string | null {
  const inner = DOUBLE_VERSION.exec(path)?.[1] ?? WITH_VERSION_IN_FRONT.exec(path)?.[1];
  if (inner !== undefined) return inner;
  // The client adds a slash to a base address that ends with one.
  if (path.startsWith('//') && WEBSOCKET.test(path.slice(1))) return path.slice(1);
  return MODEL_CALL.test(path) ? `/v1beta${path}` : readUndoubled(path, '/upload');
}

const SNIPPETS: readonly SnippetTemplate[] = [
  {
    id: 'gemini-python',
    label: 'Google Gen AI SDK, Python',
    language: 'python',
    code: `{imports os}
from google import genai
from google.genai import types

client = genai.Client(
    api_key=os.environ["GEMINI_API_KEY"],
    http_options=types.HttpOptions(
        base_url="{base}",
        headers={
            {headers}
        },
    ),
)
?{trace}

answer = client.models.generate_content(
    model="gemini-3.5-flash",
    contents="Say hello.",
?    config=types.GenerateContentConfig(
?        http_options=types.HttpOptions(
?            headers={
?                {run headers}
?            },
?        ),
?    ),
)
print(answer.text)`,
    pitfall: 'No version in the base address: this SDK adds it.',
  },
  {
    id: 'gemini-node',
    label: 'Google Gen AI SDK, Node',
    language: 'js',
    code: `import { GoogleGenAI } from "@google/genai";

const genai = new GoogleGenAI({
  apiKey: process.env.GEMINI_API_KEY,
  httpOptions: {
    baseUrl: "{base}",
    headers: {
      {headers}
    },
  },
});
?{trace}

const answer = await genai.models.generateContent({
  model: "gemini-3.5-flash",
  contents: "Say hello.",
?  config: {
?    httpOptions: {
?      headers: {
?        {run headers}
?      },
?    },
?  },
});
console.log(answer.text);`,
    pitfall: 'No version in the base address: this SDK adds it. Its Live API uses WebSocket, which is not relayed.',
  },
];

export const gemini = Object.freeze({
  name: 'gemini',
  displayName: 'Gemini',
  catalogId: 'google',
  credential: { header: 'x-goog-api-key', prefix: '', variable: 'GEMINI_API_KEY', isHeaderItsOwn: true },
  baseVariables: [
    { name: 'GOOGLE_GEMINI_BASE_URL', path: '' },
    { name: 'GEMINI_API_BASE', path: '' },
  ],
  errorFamily: 'google',
  opaqueModelId: /^tunedModels\//i,
  origin: () => 'https://generativelanguage.googleapis.com',
  snippets: SNIPPETS,
  defaultRegion: null,
  ownsHost: (host) => host === 'generativelanguage.googleapis.com',
  credentialForm: CREDENTIAL,
  isOwnClient: ({ query, header }) => header('x-goog-api-key') !== undefined || KEY_IN_QUERY.test(query),
  isOwnSdk: (userAgent) => /^google-genai-sdk\/|^GeminiCLI/.test(userAgent),
  claims,
  repairPath,
  mapPath: (path) => path,
  endpoint: readEndpoint,
  websocket: ({ path }) => METHODS.get(WEBSOCKET.exec(path)?.[1] ?? '') ?? null,
  asksForUsage: () => false,
  // No header is reliable; the body has `responseId`.
  reportsTerms: true,
  requestIdHeaders: [],
  errorTypeHeader: null,
  // The compatible API has OpenAI's clients.
  hasNumericErrors: (path) => !COMPATIBLE.test(path),
  region: () => null,
} as const satisfies Provider);
