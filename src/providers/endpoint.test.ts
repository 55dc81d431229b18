/** What each path is called, which format its answer has, whether it costs, and where its model stands. */
import { describe, expect, it } from 'vitest';
import type { ProviderName } from '../vocabulary/call-record.ts';
import { PROVIDERS } from './registry.ts';

/** `family format` and, when they hold, `free`, `fetched`, `batch`, `stream:yes|body`, `model:body|<name>`. */
function describeEndpoint(provider: ProviderName, line: string): string {
  const [method = '', target = ''] = line.split(' ');
  const [path = '', query = ''] = target.split('?');
  const endpoint = PROVIDERS[provider].endpoint({ method, path, query, header: () => undefined });
  const { family, format, billed, fetchesResult, isBatch, model, streamed } = endpoint;
  return [
    family,
    format,
    billed ? '' : 'free',
    fetchesResult === true ? 'fetched' : '',
    isBatch ? 'batch' : '',
    streamed === false ? '' : `stream:${streamed === true ? 'yes' : streamed}`,
    model.in === 'nowhere' ? '' : `model:${model.in === 'path' ? model.name : model.in}`,
  ]
    .filter((word) => word !== '')
    .join(' ');
}

const CHAT = 'chat.completions chat-completions stream:body model:body';
const COMPLETIONS = 'completions chat-completions stream:body model:body';
const RESPONSES = 'responses responses stream:body model:body';
const EMBEDDINGS = 'embeddings embeddings model:body';
const MESSAGES = 'messages messages stream:body model:body';
const COUNT = 'messages.count_tokens opaque free model:body';
const SONNET = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const SONNET_PATH = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0';
const PROFILE_ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';

const ROWS: readonly (readonly [ProviderName, string, string])[] = [
  ['openai', 'POST /v1/chat/completions', CHAT],
  ['openai', 'POST /v1/chat/completions/', CHAT],
  ['openai', 'GET /v1/chat/completions', 'chat.completions opaque free'],
  ['openai', 'GET /v1/chat/completions/chatcmpl-1', 'chat.completions opaque free'],
  ['openai', 'POST /v1/chat/completions/chatcmpl-1', 'chat.completions opaque free'],
  ['openai', 'DELETE /v1/chat/completions/chatcmpl-1', 'chat.completions opaque free'],
  ['openai', 'OPTIONS /v1/chat/completions', 'chat.completions opaque free'],
  ['openai', 'POST /v1/completions', COMPLETIONS],
  ['openai', 'POST /v1/responses', RESPONSES],
  ['openai', 'POST /v1/responses?beta=true', RESPONSES],
  ['openai', 'GET /v1/responses/resp_1', 'responses responses free fetched'],
  ['openai', 'GET /v1/responses/resp_1?stream=true&starting_after=3', 'responses responses free fetched stream:yes'],
  ['openai', 'GET /v1/responses/resp_1/input_items', 'responses opaque free'],
  ['openai', 'POST /v1/responses/resp_1/cancel', 'responses responses free fetched'],
  ['openai', 'POST /v1/responses/compact', 'responses.compact responses stream:body model:body'],
  ['openai', 'POST /v1/responses/input_tokens', 'responses.input_tokens opaque free model:body'],
  ['openai', 'POST /v1/embeddings', EMBEDDINGS],
  ['openai', 'POST /v1/images/generations', 'images.generations images stream:body model:body'],
  ['openai', 'POST /v1/images/edits', 'images.edits images stream:body model:body'],
  ['openai', 'POST /v1/audio/speech', 'audio.speech speech stream:body model:body'],
  ['openai', 'POST /v1/audio/transcriptions', 'audio.transcriptions transcriptions stream:body model:body'],
  ['openai', 'POST /v1/audio/translations', 'audio.translations transcriptions stream:body model:body'],
  ['openai', 'POST /v1/moderations', 'moderations opaque free model:body'],
  ['openai', 'POST /v1/batches', 'batches batches batch'],
  ['openai', 'GET /v1/batches', 'batches opaque free'],
  ['openai', 'GET /v1/batches/batch_1', 'batches batches free fetched batch'],
  ['openai', 'POST /v1/batches/batch_1/cancel', 'batches batches free fetched batch'],
  ['openai', 'POST /v1/files', 'files opaque free'],
  ['openai', 'GET /v1/files/file-1/content', 'files opaque free'],
  ['openai', 'POST /v1/uploads/upload_1/parts', 'uploads opaque free'],
  ['openai', 'GET /v1/models', 'models opaque free'],
  ['openai', 'GET /v1/models/gpt-4o-mini', 'models opaque free'],
  ['openai', 'POST /v1/fine_tuning/jobs', 'fine_tuning opaque'],
  ['openai', 'GET /v1/fine_tuning/jobs', 'fine_tuning opaque free'],
  ['openai', 'POST /v1/fine_tuning/jobs/ftjob-1/cancel', 'fine_tuning opaque free'],
  ['openai', 'POST /v1/vector_stores/vs_1/search', 'vector_stores opaque'],
  ['openai', 'POST /v1/videos', 'videos opaque stream:body model:body'],
  ['openai', 'GET /v1/videos/video_1/content', 'videos opaque free'],
  ['openai', 'POST /v1/realtime/client_secrets', 'realtime opaque free'],
  ['openai', 'POST /v1/threads/thread_1/runs', 'threads opaque'],
  ['openai', 'POST /v1/threads/runs', 'threads opaque'],
  ['openai', 'POST /v1/decisions', 'decisions responses stream:body model:body'],
  ['openai', 'POST /v1/images/variations', 'images.variations images stream:body model:body'],
  ['openai', 'POST /v1/live/sessions', 'live opaque'],
  ['openai', 'POST /v1/containers', 'containers opaque'],
  ['openai', 'POST /v1/evals/eval_1/runs', 'evals opaque'],
  // To cancel it.
  ['openai', 'POST /v1/evals/eval_1/runs/run_1', 'evals opaque free'],
  ['gemini', 'POST /v1beta/corpora', 'corpora opaque free'],
  ['openai', 'POST /v1/agents/sessions', 'agents opaque'],
  ['openai', 'POST /v1/conversations', 'conversations opaque free'],
  ['openai', 'POST /v1/chatkit/sessions', 'chatkit opaque free'],
  ['openai', 'POST /v1/content_provenance_checks', 'content_provenance_checks opaque'],
  ['openai', 'POST /v1/webhook_endpoints', 'webhooks opaque free'],
  ['openai', 'GET /v1/organization/usage/completions', 'organization opaque free'],
  ['openai', 'POST /v1/chat/completionsandmore', 'unknown opaque'],
  ['openai', 'POST /v1/next-year', 'unknown opaque'],
  ['openai', 'GET /v1/next-year', 'unknown opaque'],
  ['openai', 'POST /elsewhere', 'unknown opaque'],
  ['openai', 'POST /v1', 'unknown opaque'],
  ['anthropic', 'POST /v1/messages', MESSAGES],
  ['anthropic', 'POST /v1/messages?beta=true', MESSAGES],
  ['anthropic', 'POST /v1/messages/count_tokens', COUNT],
  ['anthropic', 'POST /v1/messages/batches', 'messages.batches message-batch batch'],
  ['anthropic', 'GET /v1/messages/batches', 'messages.batches message-batch-state free'],
  ['anthropic', 'GET /v1/messages/batches/msgbatch_1/results', 'messages.batches message-batch free fetched batch'],
  ['anthropic', 'POST /v1/messages/batches/msgbatch_1/cancel', 'messages.batches opaque free'],
  ['anthropic', 'POST /v1/complete', 'complete opaque stream:body model:body'],
  ['anthropic', 'GET /v1/models', 'models opaque free'],
  ['anthropic', 'POST /v1/files', 'files opaque free'],
  ['anthropic', 'POST /v1/skills', 'skills opaque free'],
  ['anthropic', 'POST /v1/sessions/s1/events', 'sessions opaque'],
  ['anthropic', 'GET /v1/sessions/s1/events/stream', 'sessions opaque free'],
  ['anthropic', 'POST /v1/chat/completions', CHAT],
  ['gemini', 'POST /v1/models/gemini-x:generateContent', 'generateContent generate-content model:gemini-x'],
  ['gemini', 'POST /v1beta/models/gemini-x:generateContent', 'generateContent generate-content model:gemini-x'],
  ['gemini', 'POST /v1alpha/models/gemini-x:generateContent', 'generateContent generate-content model:gemini-x'],
  ['gemini', 'POST /v1/models/gemini-x%3AgenerateContent', 'generateContent generate-content model:gemini-x'],
  [
    'gemini',
    'POST /v1/models/gemini-x:streamGenerateContent?alt=sse',
    'streamGenerateContent generate-content stream:yes model:gemini-x',
  ],
  [
    'gemini',
    'POST /v1beta/models/gemini-x:streamGenerateContent',
    'streamGenerateContent generate-content stream:yes model:gemini-x',
  ],
  ['gemini', 'POST /v1/tunedModels/foo:generateContent', 'generateContent generate-content model:tunedModels/foo'],
  [
    'gemini',
    'POST /v1/models/gemini-embedding-x:embedContent',
    'embedContent gemini-embeddings model:gemini-embedding-x',
  ],
  [
    'gemini',
    'POST /v1/models/gemini-embedding-x:batchEmbedContents',
    'batchEmbedContents gemini-embeddings model:gemini-embedding-x',
  ],
  ['gemini', 'POST /v1beta/models/m:asyncBatchEmbedContent', 'asyncBatchEmbedContent gemini-batch batch model:m'],
  ['gemini', 'POST /v1/models/gemini-x:countTokens', 'countTokens opaque free model:gemini-x'],
  ['gemini', 'POST /v1beta/models/m:batchGenerateContent', 'batchGenerateContent gemini-batch batch model:m'],
  ['gemini', 'POST /v1beta/models/imagen-4:predict', 'predict imagen model:imagen-4'],
  ['gemini', 'POST /v1beta/models/veo-3:predictLongRunning', 'predictLongRunning opaque model:veo-3'],
  ['gemini', 'POST /v1beta/models/m:brandNewVerb', 'unknown opaque model:m'],
  ['gemini', 'GET /v1beta/models/veo-3/operations/op1', 'operations opaque free'],
  ['gemini', 'GET /v1beta/models', 'models opaque free'],
  ['gemini', 'POST /v1/interactions', 'interactions interactions stream:body model:body'],
  ['gemini', 'POST /v1beta/interactions', 'interactions interactions stream:body model:body'],
  ['gemini', 'GET /v1/interactions/i1', 'interactions interactions free fetched'],
  ['gemini', 'GET /v1/interactions/i1?stream=true', 'interactions interactions free fetched stream:yes'],
  ['gemini', 'POST /v1/interactions/i1/cancel', 'interactions interactions free fetched'],
  ['gemini', 'DELETE /v1/interactions/i1', 'interactions opaque free'],
  ['gemini', 'GET /v1/interactions', 'interactions opaque free'],
  ['gemini', 'POST /v1beta/cachedContents', 'cachedContents opaque'],
  ['gemini', 'GET /v1beta/cachedContents/c1', 'cachedContents opaque free'],
  ['gemini', 'GET /v1beta/batches/b1', 'batches gemini-batch free fetched batch'],
  ['gemini', 'GET /v1beta/batches', 'batches opaque free'],
  ['gemini', 'DELETE /v1beta/batches/b1', 'batches opaque free'],
  ['gemini', 'GET /download/v1beta/files/batch-1:download', 'files gemini-batch free fetched batch'],
  ['gemini', 'GET /v1beta/files/batch-1', 'files opaque free'],
  ['gemini', 'POST /v1beta/batches/b1:cancel', 'batches opaque free'],
  ['gemini', 'POST /upload/v1beta/files', 'files opaque free'],
  ['gemini', 'POST /upload/v1/fileSearchStores/s1:uploadToFileSearchStore', 'fileSearchStores opaque'],
  ['gemini', 'POST /v1beta/openai/chat/completions', CHAT],
  ['gemini', 'POST /v1beta/openai/embeddings', EMBEDDINGS],
  ['bedrock', `POST ${SONNET_PATH}/converse`, `converse converse model:${SONNET}`],
  ['bedrock', `POST ${SONNET_PATH}/converse-stream`, `converse-stream converse stream:yes model:${SONNET}`],
  ['bedrock', `POST ${SONNET_PATH}/invoke`, `invoke invoke model:${SONNET}`],
  [
    'bedrock',
    `POST ${SONNET_PATH}/invoke-with-response-stream`,
    `invoke-with-response-stream invoke stream:yes model:${SONNET}`,
  ],
  ['bedrock', `POST /model/${SONNET}/invoke`, `invoke invoke model:${SONNET}`],
  ['bedrock', `POST ${SONNET_PATH}/count-tokens`, `count-tokens opaque free model:${SONNET}`],
  [
    'bedrock',
    'POST /model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse',
    `converse converse model:${PROFILE_ARN}`,
  ],
  ['bedrock', `POST /model/${PROFILE_ARN}/converse`, `converse converse model:${PROFILE_ARN}`],
  ['bedrock', 'POST /model/bad%zzescape/converse', 'converse converse model:bad%zzescape'],
  ['bedrock', 'POST /model/m/brand-new', 'unknown opaque model:m'],
  ['bedrock', 'POST /async-invoke', 'async-invoke opaque model:body'],
  ['bedrock', 'GET /async-invoke/arn%3Aaws', 'async-invoke opaque free'],
  ['bedrock', 'POST /guardrail/g1/version/1/apply', 'guardrail opaque'],
  ['bedrock', 'POST /openai/v1/chat/completions', CHAT],
  ['bedrock', 'POST /openai/v1/responses', RESPONSES],
  ['bedrock', 'POST /anthropic/v1/messages', MESSAGES],
  ['fireworks', 'POST /inference/v1/chat/completions', CHAT],
  ['fireworks', 'POST /inference/v1/completions', COMPLETIONS],
  ['fireworks', 'POST /inference/v1/messages', MESSAGES],
  ['fireworks', 'POST /inference/v1/messages/count_tokens', COUNT],
  ['fireworks', 'POST /inference/v1/responses', RESPONSES],
  ['fireworks', 'POST /inference/v1/embeddings', EMBEDDINGS],
  ['fireworks', 'POST /inference/v1/rerank', 'rerank embeddings model:body'],
  ['fireworks', 'GET /inference/v1/models', 'models opaque free'],
  ['fireworks', 'POST /inference/v1/workflows/accounts/fireworks/models/flux/text_to_image', 'workflows opaque'],
  ['fireworks', 'POST /v1/accounts/acme/deployments', 'accounts opaque'],
  ['fireworks', 'GET /v1/accounts/acme/models', 'accounts opaque free'],
  ['fireworks', 'POST /elsewhere', 'unknown opaque'],
  ['together', 'POST /v1/chat/completions', CHAT],
  ['together', 'POST /v1/embeddings', EMBEDDINGS],
  ['together', 'POST /v1/messages', MESSAGES],
  ['together', 'POST /v1/images/generations', 'images.generations images stream:body model:body'],
  ['together', 'POST /v1/tci/execute', 'tci.execute opaque stream:body model:body'],
  ['together', 'POST /v2/videos', 'videos video-job model:body'],
  ['together', 'GET /v2/videos/video-1', 'videos video-job free fetched'],
  ['together', 'POST /v1/rerank', 'rerank embeddings model:body'],
  ['together', 'POST /v1/batches', 'batches opaque batch'],
  ['together', 'GET /v1/batches/b1', 'batches opaque free'],
  ['deepseek', 'POST /chat/completions', CHAT],
  ['deepseek', 'POST /v1/chat/completions', CHAT],
  ['deepseek', 'POST /beta/chat/completions', CHAT],
  ['deepseek', 'POST /beta/completions', COMPLETIONS],
  ['deepseek', 'POST /anthropic/v1/messages', MESSAGES],
  ['deepseek', 'POST /v1/responses', RESPONSES],
  ['deepseek', 'POST /v1/tools/search', 'tools.search web-search model:tools/search'],
  ['deepseek', 'POST /v1/tools/fetch', 'tools.fetch web-fetch model:tools/fetch'],
  ['deepseek', 'POST /responses', RESPONSES],
  ['deepseek', 'GET /models', 'models opaque free'],
  ['deepseek', 'GET /user/balance', 'user.balance opaque free'],
  ['deepseek', 'POST /elsewhere', 'unknown opaque'],
];

describe('the endpoint', () => {
  it.each(ROWS)('of %s at %s is %s', (provider, line, expected) => {
    expect(describeEndpoint(provider, line)).toBe(expected);
  });

  it('of any path is something, whatever the path', () => {
    for (const provider of Object.values(PROVIDERS)) {
      for (const path of [
        '',
        '/',
        '//',
        '/%',
        '/model/%E0%A4%A/converse',
        `/v1/${'x/'.repeat(10_000)}`,
        '/v1/models/:',
      ]) {
        const { family } = provider.endpoint({ method: 'POST', path, query: '', header: () => undefined });
        expect(family).not.toBe('');
      }
    }
  });
});

describe('asksForUsage', () => {
  const asks = (provider: ProviderName, line: string) => {
    const [method = '', path = ''] = line.split(' ');
    const endpoint = PROVIDERS[provider].endpoint({ method, path, query: '', header: () => undefined });
    return PROVIDERS[provider].asksForUsage(endpoint);
  };

  it('holds for the chat and completions streams of OpenAI, which lack usage unless asked', () => {
    expect(asks('openai', 'POST /v1/chat/completions')).toBe(true);
    expect(asks('openai', 'POST /v1/completions')).toBe(true);
  });

  it('holds for nothing else, Together included, most of whose models report usage unasked', () => {
    expect(asks('together', 'POST /v1/chat/completions')).toBe(false);
    expect(asks('together', 'POST /v1/completions')).toBe(false);
    expect(asks('openai', 'POST /v1/responses')).toBe(false);
    expect(asks('openai', 'POST /v1/embeddings')).toBe(false);
    expect(asks('openai', 'GET /v1/chat/completions')).toBe(false);
    expect(asks('together', 'POST /v1/messages')).toBe(false);
    expect(asks('fireworks', 'POST /inference/v1/chat/completions')).toBe(false);
    expect(asks('deepseek', 'POST /chat/completions')).toBe(false);
    expect(asks('anthropic', 'POST /v1/chat/completions')).toBe(false);
    expect(asks('gemini', 'POST /v1beta/openai/chat/completions')).toBe(false);
    expect(asks('bedrock', 'POST /openai/v1/chat/completions')).toBe(false);
  });
});
