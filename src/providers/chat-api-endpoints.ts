/** The endpoints of the API with `/v1/chat/completions`, `/v1/responses`, …, for every provider that serves it. */
import {
  batchEndpoint,
  countingEndpoint,
  type EndpointTable,
  fetchedEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  UNKNOWN_ENDPOINT,
  unmeteredEndpoint,
} from './endpoint-row.ts';
import type { Endpoint } from './provider.ts';

/** Sound has no usage, and older models are billed by the spoken text. */
const SPEECH = Object.freeze({
  ...meteredEndpoint('audio.speech', 'speech'),
  countsRequest: 'characters',
} satisfies Endpoint);

/** Older models are billed by picture, size and quality. */
function picturesEndpoint(family: string): Endpoint {
  return Object.freeze({ ...meteredEndpoint(family, 'images'), countsRequest: 'pictures' } satisfies Endpoint);
}

/** A stored completion that is fetched again was billed when it was made, so it is not metered. */
const TABLE: EndpointTable = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/chat/completions', meteredEndpoint('chat.completions', 'chat-completions')],
    ['/completions', meteredEndpoint('completions', 'chat-completions')],
    ['/responses', meteredEndpoint('responses', 'responses')],
    ['/responses/compact', meteredEndpoint('responses.compact', 'responses')],
    ['/responses/input_tokens', countingEndpoint('responses.input_tokens')],
    ['/embeddings', Object.freeze({ ...meteredEndpoint('embeddings', 'embeddings'), streamed: false })],
    ['/images/generations', picturesEndpoint('images.generations')],
    ['/images/edits', picturesEndpoint('images.edits')],
    ['/images/variations', picturesEndpoint('images.variations')],
    ['/audio/speech', SPEECH],
    ['/audio/transcriptions', meteredEndpoint('audio.transcriptions', 'transcriptions')],
    ['/audio/translations', meteredEndpoint('audio.translations', 'transcriptions')],
    ['/moderations', countingEndpoint('moderations')],
    ['/rerank', unmeteredEndpoint('rerank')],
    ['/decisions', meteredEndpoint('decisions', 'responses')],
    ['/videos', unmeteredEndpoint('videos')],
    ['/batches', batchEndpoint('batches', 'batches')],
    // A WebRTC call reports usage on its own channel, which does not pass through here.
    ['/realtime/calls', Object.freeze({ ...unmeteredEndpoint('realtime'), streamed: false })],
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
    resourceRow('/content_provenance_checks', 'content_provenance_checks', 'billed'),
    resourceRow('/skills', 'skills', 'free'),
    resourceRow('/vaults', 'vaults', 'free'),
    resourceRow('/webhook_endpoints', 'webhooks', 'free'),
    resourceRow('/webhook_event_types', 'webhooks', 'free'),
    resourceRow('/organization', 'organization', 'free'),
    resourceRow('/projects', 'projects', 'free'),
    resourceRow('/safety', 'safety', 'free'),
  ],
  // Setup: keeping or using the thing is billed by time or by the calls that use it.
  freePosts: new RegExp(
    [
      // Voices and consent to their use.
      '^/audio/voice(?:s|_consents)(?:/|$)',
      '^/chatkit/',
      '^/containers/[^/]+/',
      '^/vector_stores(?:/[^/]+)?$',
      '^/vector_stores/[^/]+/file',
      '^/fine_tuning/checkpoints/',
      '^/evals(?:/[^/]+(?:/runs/[^/]+)?)?$',
      '^/realtime/(?:client_secrets|translations/client_secrets|sessions|transcription_sessions)$',
      '^/threads(?:/(?!runs$)[^/]+)?$',
      '^/threads/[^/]+/messages(?:/|$)',
      '^/threads/[^/]+/runs/[^/]+$',
      '^/agents(?:/(?!sessions$)[^/]+)?$',
      '^/agents/(?:automations|environments|sessions)/[^/]+$',
      '^/agents/environments/[^/]+/',
      // Together's.
      '^/fine-tunes/(?:estimate-price|preview)$',
    ].join('|'),
  ),
});

const FETCHED_RESPONSE = fetchedEndpoint('responses', 'responses', false);
const REPLAYED_RESPONSE = Object.freeze({ ...FETCHED_RESPONSE, streamed: true } satisfies Endpoint);
const FETCHED_BATCH = fetchedEndpoint('batches', 'batches', true);

const STREAM_IN_QUERY = /(?:^|&)stream=true(?:&|$)/;

/** Stopping something also returns what was made of it. */
function readFetched(method: string, rest: string, query: string): Endpoint | null {
  const [, root, id, action] = /^\/(responses|batches)\/([^/]+)(\/cancel)?$/.exec(rest) ?? [];
  if (root === undefined || id === undefined || method !== (action === undefined ? 'GET' : 'POST')) return null;
  if (root === 'batches') return FETCHED_BATCH;
  return { ...(STREAM_IN_QUERY.test(query) ? REPLAYED_RESPONSE : FETCHED_RESPONSE), fetchedAnswer: id };
}

/** `rest` is the path behind `/v1`, e.g. `/chat/completions`. */
export function readChatApiEndpoint(method: string, rest: string, query: string): Endpoint {
  return readFetched(method, rest, query) ?? readFromTable(TABLE, method, rest) ?? UNKNOWN_ENDPOINT;
}

/** First segments of this API, for base addresses that lack `/v1`. */
const ROOT =
  /^\/(?:chat\/completions|completions|responses|embeddings|images|audio|moderations|rerank|batches|files|models)(?:\/|$)/;

export function isChatApiRoot(path: string): boolean {
  return ROOT.test(path);
}
