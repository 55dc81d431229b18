/**
 * The endpoints of the API whose paths are `/v1/chat/completions`, `/v1/responses`, …, whichever host serves it. Each
 * provider says under which prefix it stands. Bodies and prices are not its business.
 */
import {
  batchEndpoint,
  countingEndpoint,
  type EndpointTable,
  freeEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
} from './endpoint-row.ts';
import type { Endpoint } from './provider.ts';

/** A stored answer that is fetched again has the usage that was billed when it was made: it is not metered again. */
const TABLE: EndpointTable = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/chat/completions', meteredEndpoint('chat.completions', 'chat-completions')],
    ['/completions', meteredEndpoint('completions', 'chat-completions')],
    ['/responses', meteredEndpoint('responses', 'responses')],
    ['/responses/compact', meteredEndpoint('responses.compact', 'responses')],
    ['/responses/input_tokens', countingEndpoint('responses.input_tokens')],
    ['/embeddings', Object.freeze({ ...meteredEndpoint('embeddings', 'embeddings'), streamed: false })],
    ['/images/generations', unmeteredEndpoint('images.generations')],
    ['/images/edits', unmeteredEndpoint('images.edits')],
    ['/images/variations', unmeteredEndpoint('images.variations')],
    ['/audio/speech', unmeteredEndpoint('audio.speech')],
    ['/audio/transcriptions', unmeteredEndpoint('audio.transcriptions')],
    ['/audio/translations', unmeteredEndpoint('audio.translations')],
    ['/moderations', countingEndpoint('moderations')],
    ['/rerank', unmeteredEndpoint('rerank')],
    ['/decisions', unmeteredEndpoint('decisions')],
    ['/videos', unmeteredEndpoint('videos')],
    ['/batches', batchEndpoint('batches')],
  ]),
  resources: [
    resourceRow('/chat/completions', 'chat.completions', 'free'),
    resourceRow('/responses', 'responses', 'free'),
    resourceRow('/batches', 'batches', 'free'),
    resourceRow('/models', 'models', 'free'),
    resourceRow('/files', 'files', 'free'),
    resourceRow('/uploads', 'uploads', 'free'),
    resourceRow('/images', 'images', 'billed'),
    resourceRow('/audio', 'audio', 'billed'),
    resourceRow('/videos', 'videos', 'billed'),
    resourceRow('/vector_stores', 'vector_stores', 'billed'),
    resourceRow('/containers', 'containers', 'billed'),
    resourceRow('/fine_tuning', 'fine_tuning', 'billed'),
    resourceRow('/fine-tunes', 'fine_tuning', 'billed'),
    resourceRow('/evals', 'evals', 'billed'),
    resourceRow('/graders', 'graders', 'billed'),
    resourceRow('/realtime', 'realtime', 'billed'),
    resourceRow('/live', 'live', 'billed'),
    resourceRow('/agents', 'agents', 'billed'),
    resourceRow('/threads', 'threads', 'billed'),
    resourceRow('/assistants', 'assistants', 'free'),
    resourceRow('/conversations', 'conversations', 'free'),
    resourceRow('/chatkit', 'chatkit', 'billed'),
    resourceRow('/organization', 'organization', 'free'),
  ],
});

/** `GET /responses/{id}?stream=true` replays a stored answer as events. */
const REPLAYED = Object.freeze({ ...freeEndpoint('responses'), streamed: true } satisfies Endpoint);

const STREAM_IN_QUERY = /(?:^|&)stream=true(?:&|$)/;

/** `rest` is the path behind `/v1`, e.g. `/chat/completions`. */
export function readChatApiEndpoint(method: string, rest: string, query: string): Endpoint {
  const endpoint = readFromTable(TABLE, method, rest) ?? UNKNOWN_ENDPOINT;
  if (method === 'GET' && endpoint.family === 'responses' && STREAM_IN_QUERY.test(query)) return REPLAYED;
  return endpoint;
}

/** First segments of this API: what a client asks for whose base address lacks `/v1`. */
const ROOTS: readonly string[] = [
  '/chat/completions',
  '/completions',
  '/responses',
  '/embeddings',
  '/images',
  '/audio',
  '/moderations',
  '/rerank',
  '/batches',
  '/files',
  '/models',
];

export function isChatApiRoot(path: string): boolean {
  return ROOTS.some((root) => path === root || path.startsWith(`${root}/`));
}
