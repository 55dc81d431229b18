/**
 * Walks over the messages of a request of any API, text by text: for the estimator, which counts them, and for search,
 * which keeps them. Pictures and sound are reported, never read.
 */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject, readName } from '../usage/read-json.ts';

/** Members of messages that belong to the format. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'toolUseId',
  'status',
  'phase',
  'detail',
  'format',
  'model',
  'taskType',
  'media_type',
  'mime_type',
  'mimeType',
  'cache_control',
  'cachePoint',
  'signature',
  'thoughtSignature',
  'thought_signature',
  'encrypted_content',
  'logprobs',
]);
/** Members of messages that are media, not text. */
const MEDIA: ReadonlySet<string> = new Set([
  'data',
  'bytes',
  'url',
  'image_url',
  'file_url',
  'file_id',
  'file_data',
  'fileUri',
  'file_uri',
  's3Location',
]);
/** Tool arguments and results, when they are objects. */
const JSON_WITHIN: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'response', 'json']);
/** What a tool answered, by the member's name or the block's type. */
const RESULTS: ReadonlySet<string> = new Set(['functionResponse', 'function_response', 'toolResult']);
const RESULT_TYPE = /_result$|_output$/;

const MAX_DEPTH = 60;

export interface PromptSink {
  /** Objects among arguments and results come as JSON. */
  readonly onText: (text: string, isResult: boolean) => void;
  /** Called before a message's texts; null where it has a type and no role, as the items of Responses. */
  readonly onMessage?: (role: string | null) => void;
  /** A prompt sent as tokens. */
  readonly onToken?: () => void;
  readonly onMedia?: () => void;
}

export function walkPrompt(messages: JsonValue, sink: PromptSink): void {
  for (const message of Array.isArray(messages) ? messages : [messages]) {
    if (
      Array.isArray(messages) &&
      isObject(message) &&
      readName(message, 'role') === null &&
      readName(message, 'type') !== null
    )
      sink.onMessage?.(null);
    if (typeof message === 'number') sink.onToken?.();
    else walk(message, false, 1);
  }

  function walk(value: JsonValue, isResult: boolean, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') sink.onText(value, isResult);
    else if (Array.isArray(value)) {
      for (const element of value) {
        if (typeof element === 'number') sink.onToken?.();
        else walk(element, isResult, depth + 1);
      }
    } else if (isObject(value)) walkObject(value, isResult, depth);
  }

  function walkObject(object: JsonObject, isInResult: boolean, depth: number): void {
    const role = readName(object, 'role');
    if (role !== null) sink.onMessage?.(role);
    const isResult = isInResult || RESULT_TYPE.test(readName(object, 'type') ?? '');
    for (const name in object) {
      const value = object[name];
      if (value === undefined || PASSED_OVER.has(name)) continue;
      const isTextAsData = name === 'data' && object['type'] === 'text';
      if (MEDIA.has(name) && !isTextAsData) sink.onMedia?.();
      else if (JSON_WITHIN.has(name) && isObject(value)) sink.onText(JSON.stringify(value), isResult);
      else walk(value, isResult || RESULTS.has(name), depth + 1);
    }
  }
}
