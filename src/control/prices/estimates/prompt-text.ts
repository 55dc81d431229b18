/**
 * Collects the text that a model read from a request of any API: messages as they are, tools and schemas as JSON, which
 * is close to what providers show models. Pictures and sound are noted as not counted.
 */
import { type PromptSink, walkPrompt } from '../../../formats/texts/walk-prompt.ts';
import { isObject } from '../../../formats/usage/read-json.ts';
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import type { NotCounted } from './not-counted.ts';
import { type CollectedText, createTextCollector } from './text-collector.ts';

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
const READ_AS_JSON: readonly string[] = ['tools', 'toolConfig', 'functions'];
/** Members read as JSON when they hold a schema. */
const READ_FOR_SCHEMA: readonly string[] = [
  'response_format',
  'text',
  'output_config',
  'output_format',
  'generationConfig',
  'generation_config',
];
/** Each element is a message with its own framing. */
const MESSAGE_LISTS: readonly string[] = ['messages', 'contents', 'input'];

const STORED: readonly string[] = [
  'previous_response_id',
  'previous_interaction_id',
  'conversation',
  'cachedContent',
  'cached_content',
];

export interface PromptText {
  readonly text: CollectedText;
  readonly messages: number;
  /** Prompts sent as tokens. */
  readonly tokens: number;
  readonly notCounted: readonly NotCounted[];
}

export function readPromptText(body: JsonObject): PromptText {
  const collector = createTextCollector();
  const notCounted = new Set<NotCounted>();
  const counts = { tokens: 0, texts: 0 };
  const sink: PromptSink = {
    onText: addText,
    onToken: () => {
      counts.tokens += 1;
    },
    onMedia: () => notCounted.add('media'),
  };
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name)) walkPrompt(value, sink);
    else if (READ_AS_JSON.includes(name)) addText(JSON.stringify(value));
    else if (READ_FOR_SCHEMA.includes(name) && isObject(value)) addSchema(JSON.stringify(value));
    else if (STORED.includes(name) && value !== null) notCounted.add('stored_context');
  }
  // A stored prompt: { id, version, variables }.
  if (isObject(body['prompt']) && typeof body['prompt']['id'] === 'string') notCounted.add('stored_context');

  function addText(text: string): void {
    counts.texts += 1;
    collector.add(String(counts.texts), text);
  }

  function addSchema(json: string): void {
    if (/"\w*[sS]chema"/.test(json)) addText(json);
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
