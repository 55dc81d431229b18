/** Writes answers that the real formats then read, so that a quote and a record cannot differ. */
import type { UsageFormatName } from '../../../providers/format-names.ts';
import type { JsonObject, JsonValue } from '../../../vocabulary/token-usage.ts';
import type { QuoteContext } from './quote-input.ts';

export interface AnswerParts {
  readonly usage: JsonObject | null;
  readonly model: string | null;
  /** Other members as the provider sends them; they win over those written here. */
  readonly response: JsonObject;
  readonly context: QuoteContext;
  readonly isBatchLine: boolean;
}

export interface WrittenAnswer {
  readonly contentType: string;
  readonly body: string;
}

export interface AnswerForm {
  /** The most important usage members, for errors. Empty: answers carry no usage. */
  readonly usageFields: readonly string[];
  /** What is counted instead of usage: it is in the context, or is one request. */
  readonly counts: 'n' | 'input_characters' | 'request' | null;
  readonly write: (parts: AnswerParts) => WrittenAnswer;
}

const RESULT_ID = 'quoted';

function json(body: JsonValue): WrittenAnswer {
  return { contentType: 'application/json', body: JSON.stringify(body) };
}

function named(name: string, value: JsonValue | null): JsonObject {
  return value === null ? {} : { [name]: value };
}

function plainForm(
  usageFields: readonly string[],
  fixed: JsonObject,
  names: { readonly usage: string; readonly model: string } = { usage: 'usage', model: 'model' },
): AnswerForm {
  return {
    usageFields,
    counts: null,
    write: ({ usage, model, response }) =>
      json({ ...fixed, ...named(names.model, model), ...response, ...named(names.usage, usage) }),
  };
}

/** Pictures are counted where usage is missing. */
function writePictures(list: string, picture: JsonObject): AnswerForm['write'] {
  return ({ usage, response, context }) => {
    const pictures = Array.from({ length: context.n ?? 0 }, () => picture);
    return json({ [list]: pictures, ...response, ...named('usage', usage) });
  };
}

const CHAT_FIELDS = ['prompt_tokens', 'completion_tokens', 'prompt_tokens_details.cached_tokens'];
const RESPONSES_FIELDS = ['input_tokens', 'output_tokens', 'input_tokens_details.cached_tokens'];
const MESSAGES_FIELDS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation'];
const GEMINI_FIELDS = ['promptTokenCount', 'candidatesTokenCount', 'cachedContentTokenCount', 'thoughtsTokenCount'];
const GEMINI_NAMES = { usage: 'usageMetadata', model: 'modelVersion' } as const;

const message: JsonObject = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }] };
const generated: JsonObject = { candidates: [{ finishReason: 'STOP' }] };

/** Bedrock's models put their counts in different places. */
const INVOKE_TOP_NAMES: readonly string[] = [
  'inputTextTokenCount',
  'totalOutputTextTokenCount',
  'prompt_token_count',
  'generation_token_count',
  'results',
];

function writeInvoke({ usage, response }: AnswerParts): WrittenAnswer {
  const entries = Object.entries(usage ?? {});
  const isTop = ([name]: readonly [string, JsonValue]) => INVOKE_TOP_NAMES.includes(name);
  const top = Object.fromEntries(entries.filter(isTop));
  const rest = Object.fromEntries(entries.filter((entry) => !isTop(entry)));
  if ('billed_units' in rest) return json({ ...response, meta: rest });
  if ('inputTokenCount' in rest || 'outputTokenCount' in rest)
    return json({ ...response, 'amazon-bedrock-invocationMetrics': rest });
  return json({ ...response, ...top, ...(Object.keys(rest).length === 0 ? {} : { usage: rest }) });
}

function writeBatch({ usage, model, response, isBatchLine }: AnswerParts): WrittenAnswer {
  // One request's usage tells its prompt; a batch's tells only what the answer says.
  const counts = isBatchLine ? { request_counts: { total: 1, completed: 1, failed: 0 } } : {};
  return json({
    id: RESULT_ID,
    object: 'batch',
    status: 'completed',
    ...counts,
    ...named('model', model),
    ...response,
    ...named('usage', usage),
  });
}

function writeMessageBatch({ usage, model, response }: AnswerParts): WrittenAnswer {
  const answered = { ...message, ...named('model', model), ...response, ...named('usage', usage) };
  const line = { custom_id: RESULT_ID, result: { type: 'succeeded', message: answered } };
  return { contentType: 'application/x-jsonl', body: `${JSON.stringify(line)}\n` };
}

function writeGeminiBatch({ usage, model, response }: AnswerParts): WrittenAnswer {
  const answered = { ...generated, ...named('modelVersion', model), ...response, ...named('usageMetadata', usage) };
  return json({
    name: `batches/${RESULT_ID}`,
    done: true,
    metadata: named('model', model),
    response: { inlinedResponses: { inlinedResponses: [{ response: answered }] } },
  });
}

/** Only a stream of sound ends with usage. */
function writeSpeech({ usage, response }: AnswerParts): WrittenAnswer {
  if (usage === null) return { contentType: 'audio/mpeg', body: '' };
  const done = { type: 'speech.audio.done', ...response, usage };
  return { contentType: 'text/event-stream', body: `data: ${JSON.stringify(done)}\n\n` };
}

export const ANSWER_FORMS: Readonly<Record<UsageFormatName, AnswerForm>> = Object.freeze({
  'chat-completions': plainForm(CHAT_FIELDS, { object: 'chat.completion', choices: [] }),
  responses: plainForm(RESPONSES_FIELDS, { object: 'response', status: 'completed' }),
  embeddings: plainForm(['prompt_tokens'], { object: 'list', data: [] }),
  batches: { usageFields: RESPONSES_FIELDS, counts: null, write: writeBatch },
  images: {
    usageFields: ['input_tokens', 'input_tokens_details.image_tokens', 'output_tokens'],
    counts: 'n',
    write: writePictures('data', { url: '' }),
  },
  transcriptions: plainForm(['type', 'input_tokens', 'output_tokens', 'seconds'], { text: '' }),
  speech: {
    usageFields: ['input_tokens', 'output_tokens'],
    counts: 'input_characters',
    write: writeSpeech,
  },
  messages: plainForm(MESSAGES_FIELDS, message),
  'message-batch': { usageFields: MESSAGES_FIELDS, counts: null, write: writeMessageBatch },
  'generate-content': plainForm(GEMINI_FIELDS, generated, GEMINI_NAMES),
  interactions: plainForm(['total_input_tokens', 'total_output_tokens', 'total_cached_tokens'], {
    id: RESULT_ID,
    status: 'completed',
  }),
  'gemini-batch': { usageFields: GEMINI_FIELDS, counts: null, write: writeGeminiBatch },
  'gemini-embeddings': plainForm(['promptTokenCount'], { embedding: {} }, GEMINI_NAMES),
  imagen: { usageFields: [], counts: 'n', write: writePictures('predictions', {}) },
  'video-job': plainForm([], { id: RESULT_ID, status: 'completed' }),
  'web-search': { usageFields: [], counts: 'request', write: () => json({ results: [{}] }) },
  'web-fetch': { usageFields: [], counts: 'request', write: () => json({ content: 'page' }) },
  converse: plainForm(['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'], {
    output: {},
    stopReason: 'end_turn',
  }),
  invoke: { usageFields: ['those of the model, such as input_tokens'], counts: null, write: writeInvoke },
  'message-batch-state': { usageFields: [], counts: null, write: () => json({}) },
  opaque: { usageFields: [], counts: null, write: () => json({}) },
});
