/**
 * The text that a model read, from a request's body, whichever API it is for: messages and instructions as they are,
 * tools and schemas as JSON, which is near to how the providers show them to the model. Pictures and sound are named as
 * not counted.
 */
import { isObject } from '../shapes/json-reading.ts';
import type { JsonObject, JsonValue } from '../token-usage.ts';
import type { NotCounted } from './not-counted.ts';
import { type CollectedText, createTextCollector } from './text-collector.ts';

/** Members of a body that the model reads. */
const READ: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'input',
  'instructions',
  'contents',
  'content',
  'requests',
  'systemInstruction',
  'system_instruction',
  'prompt',
  'suffix',
  'inputText',
  'message',
  'chat_history',
  'preamble',
  'texts',
]);
/** Members that are read as the JSON they are. */
const READ_AS_JSON: readonly string[] = ['tools', 'toolConfig', 'functions'];
/** The same, if there is a schema in them. */
const READ_FOR_SCHEMA: readonly string[] = [
  'response_format',
  'text',
  'output_config',
  'output_format',
  'generationConfig',
  'generation_config',
];
/** Each of their elements is a message, which comes in a frame of its own. */
const MESSAGE_LISTS: readonly string[] = ['messages', 'contents', 'input'];

/** Within messages: words of the format. */
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
/** Within messages: what these hold is no text, and they stand for it. */
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
/** Within messages: arguments and results of tools, when they are objects. */
const JSON_WITHIN: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'response', 'json']);

const STORED: readonly string[] = [
  'previous_response_id',
  'previous_interaction_id',
  'conversation',
  'cachedContent',
  'cached_content',
];

const MAX_DEPTH = 60;

export interface PromptText {
  readonly text: CollectedText;
  readonly messages: number;
  /** What came as tokens, where an API takes those. */
  readonly tokens: number;
  readonly notCounted: readonly NotCounted[];
}

export function readPromptText(body: JsonObject): PromptText {
  const collector = createTextCollector();
  const notCounted = new Set<NotCounted>();
  // Mutable: counted on the way.
  const counts = { tokens: 0, texts: 0 };
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name)) walk(value, 0);
    else if (READ_AS_JSON.includes(name)) addText(JSON.stringify(value));
    else if (READ_FOR_SCHEMA.includes(name) && isObject(value)) addSchema(JSON.stringify(value));
    else if (STORED.includes(name) && value !== null) notCounted.add('stored_context');
  }
  // A prompt that is kept by the provider: { id, version, variables }.
  if (isObject(body['prompt']) && typeof body['prompt']['id'] === 'string') notCounted.add('stored_context');

  function addText(text: string): void {
    counts.texts += 1;
    collector.add(String(counts.texts), text);
  }

  function addSchema(json: string): void {
    if (/"\w*[sS]chema"/.test(json)) addText(json);
  }

  function walk(value: JsonValue, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') addText(value);
    else if (Array.isArray(value)) {
      for (const element of value) {
        if (typeof element === 'number') counts.tokens += 1;
        else walk(element, depth + 1);
      }
    } else if (isObject(value)) walkObject(value, depth);
  }

  function walkObject(object: JsonObject, depth: number): void {
    for (const [name, value] of Object.entries(object)) {
      if (PASSED_OVER.has(name)) continue;
      const isTextAsData = name === 'data' && object['type'] === 'text';
      if (MEDIA.has(name) && !isTextAsData) notCounted.add('media');
      else if (JSON_WITHIN.has(name) && isObject(value)) addText(JSON.stringify(value));
      else walk(value, depth + 1);
    }
  }

  return { text: collector.all(), messages: countMessages(body), tokens: counts.tokens, notCounted: [...notCounted] };
}

function countMessages(body: JsonObject): number {
  const lists = MESSAGE_LISTS.flatMap((name) => (Array.isArray(body[name]) ? [body[name]] : []));
  const listed = lists.reduce((sum, list) => sum + list.filter(isObject).length, 0);
  const single = [body['system'], body['instructions'], body['systemInstruction'], body['system_instruction']];
  const asked = typeof body['input'] === 'string' ? 1 : 0;
  return listed + asked + single.filter((value) => value !== undefined && value !== null).length;
}
