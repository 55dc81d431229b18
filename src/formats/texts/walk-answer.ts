/**
 * Walks over what a model wrote in an answer of any API, or in one event of it, piece by piece: for the estimator, which
 * counts it, and for search, which keeps it. Pieces of one text share a channel.
 */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject, readName, readObject } from '../usage/read-json.ts';

export type WrittenKind = 'answer' | 'reasoning' | 'tool_call' | 'tool_result';

const WRITTEN: ReadonlyMap<string, WrittenKind> = new Map([
  ['content', 'answer'],
  ['text', 'answer'],
  ['thinking', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['reasoning_content', 'reasoning'],
  ['refusal', 'answer'],
  ['delta', 'answer'],
  ['partial_json', 'tool_call'],
  ['name', 'tool_call'],
  ['arguments', 'tool_call'],
  ['input', 'tool_call'],
  ['code', 'tool_call'],
  ['generation', 'answer'],
  ['outputText', 'answer'],
  ['completion', 'answer'],
]);
/** Tool arguments, when they are an object. */
const WRITTEN_AS_JSON: ReadonlySet<string> = new Set(['args', 'arguments', 'input']);
const PASSED_OVER: ReadonlySet<string> = new Set([
  'usage',
  'usageMetadata',
  'logprobs',
  'logprobsResult',
  'annotations',
  'citation',
  'citations',
  'citationMetadata',
  'groundingMetadata',
  'urlContextMetadata',
  'safetyRatings',
  'promptFeedback',
  'codeExecutionResult',
  'error',
  'metadata',
  'trace',
  'tools',
  'chat_history',
  // These repeat some or all of the answer.
  'response',
  'interaction',
  'part',
]);
const MEDIA: ReadonlySet<string> = new Set(['audio', 'inlineData', 'b64_json', 'partial_image_b64']);
/** Tell interleaved texts apart. */
const INDEXES: readonly string[] = ['index', 'output_index', 'content_index', 'summary_index', 'contentBlockIndex'];

/** Only deltas bring something new in Responses events, and sound does not count. */
const RESPONSES_EVENT = /^response\./;
const RESPONSES_TEXT = /^response\.(?!audio\.|output_audio\.).+\.delta$/;
const ITEM_ADDED = 'response.output_item.added';
const ITEM_DONE = 'response.output_item.done';
/** It repeats the pieces of a transcription. */
const TRANSCRIPT_END = /^transcript\.text\.(?:done|segment)$/;
/** What a realtime session tells of itself and of items, which the client made or the events before have brought. */
const SESSION_NEWS =
  /^(?:conversation\.(?:created|item\.(?:added|created|done|retrieved|input_audio_transcription\.(?:completed|segment)))|(?:transcription_)?session\.(?:created|updated)|rate_limits\.updated)$/;
/** A tool's result amid the model's text. */
const TOOL_RESULT = /_result$|_call_output$/;

/** What the provider's own tools were asked and what they found, by members of an item of Responses. */
const HOSTED: readonly string[] = ['action', 'queries', 'results', 'output', 'outputs'];

/** Thoughts arrive at most as a summary. */
const REASONING: readonly string[] = ['reasoning', 'thinking', 'redacted_thinking'];
const REASONING_NAME = 'reasoningContent';

/** Calls of Gemini are whole and have no index; several may stand in one place. */
const CALLS: ReadonlySet<string> = new Set(['functionCall', 'executableCode', 'toolCall']);
const LISTED_CALLS = '.functionCalls';
const CALL_BEGINS: readonly string[] = ['name', 'code', 'toolType'];

const MAX_DEPTH = 60;

export interface AnswerSink {
  readonly onWritten: (channel: string, text: string, kind: WrittenKind) => void;
  /** The number of a call that only its place tells from others: a new one, or that of the call before. */
  readonly numberCall?: (isNew: boolean) => number;
  readonly onLeftOut?: (what: 'media' | 'hidden_reasoning') => void;
  /** What stands in an answer and the model did not write: results of tools that the provider ran. */
  readonly onResult?: (channel: string, value: JsonValue) => void;
  /** The words of sound. */
  readonly onTranscript?: (channel: string, text: string) => void;
}

/** An event of Bedrock's InvokeModelWithResponseStream has the model's own inside, as base64; else the event itself. */
export function unwrapEvent(event: JsonObject): JsonObject {
  const { bytes } = event;
  if (typeof bytes !== 'string') return event;
  try {
    const inner: JsonValue = JSON.parse(Buffer.from(bytes, 'base64').toString('utf8'));
    return isObject(inner) ? inner : event;
  } catch {
    return event;
  }
}

/** `event`: an event of a stream, or a whole answer. `root` begins the names of its channels. */
export function walkAnswer(event: JsonObject, sink: AnswerSink, root = ''): void {
  const type = readName(event, 'type') ?? '';
  if (type === 'error' || TRANSCRIPT_END.test(type) || SESSION_NEWS.test(type)) return;
  if (RESPONSES_EVENT.test(type) && type !== ITEM_ADDED && !RESPONSES_TEXT.test(type)) {
    const item = readObject(event, 'item');
    if (type !== ITEM_DONE || item === null) return;
    for (const name of HOSTED) readHosted(item[name], `${root}#${String(event['output_index'])}.${name}`);
    return;
  }
  // A whole Responses answer also repeats its request.
  if (readName(event, 'object') === 'response') walk(event['output'] ?? null, `${root}output`, 0, null);
  else walk(event, root, 0, kindOfDelta(type));

  function walk(value: JsonValue, channel: string, depth: number, kind: WrittenKind | null): void {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const [position, element] of value.entries())
        walk(
          element,
          isObject(element) && isPlaced(element, channel) ? channel : placeOf(channel, position, element),
          depth + 1,
          kind,
        );
    } else if (isObject(value)) walkObject(value, channel, depth, kind);
  }

  function walkObject(object: JsonObject, outer: string, depth: number, given: WrittenKind | null): void {
    const { type: ownType } = object;
    const own = typeof ownType === 'string' ? ownType : '';
    if (own !== '' && TOOL_RESULT.test(own)) {
      sink.onResult?.(`${outer}.${own}`, object);
      return;
    }
    const isReasoning = REASONING.includes(own);
    if (isReasoning) sink.onLeftOut?.('hidden_reasoning');
    const kind = isReasoning || object['thought'] === true ? 'reasoning' : given;
    const channel = channelOf(object, outer, kind);
    const isHosted = sink.onResult !== undefined && own.endsWith('_call');
    // An event is walked for each token: `for in` makes no list of its members, which all are its own.
    for (const name in object) {
      const value = object[name];
      if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) continue;
      if (isHosted && HOSTED.includes(name)) {
        readHosted(value, `${channel}.${name}`);
        continue;
      }
      if (PASSED_OVER.has(name)) {
        if (name === 'codeExecutionResult') sink.onResult?.(`${channel}.${name}`, value);
      } else if (MEDIA.has(name)) readMedia(value, `${channel}.${name}`);
      else if (typeof value === 'string') {
        const written = WRITTEN.get(name);
        // What has a name at the top is no call of a tool.
        if (written !== undefined && (depth > 0 || name !== 'name'))
          sink.onWritten(`${channel}.${name}`, value, kind ?? written);
      } else if (WRITTEN_AS_JSON.has(name) && isObject(value)) {
        if (Object.keys(value).length > 0) sink.onWritten(`${channel}.${name}`, JSON.stringify(value), 'tool_call');
      } else {
        const inner = CALLS.has(name) ? `${channel}.${name}${numberOf(value)}` : `${channel}.${name}`;
        walk(value, inner, depth + 1, name === REASONING_NAME ? 'reasoning' : kind);
      }
    }
  }

  function placeOf(channel: string, position: number, element: JsonValue): string {
    return `${channel}.${position}${channel.endsWith(LISTED_CALLS) ? numberOf(element) : ''}`;
  }

  function numberOf(call: JsonValue): string {
    const isNew = CALL_BEGINS.some((name) => readName(call, name) !== null);
    return sink.numberCall === undefined ? '' : ` ${sink.numberCall(isNew)}`;
  }

  function readMedia(value: JsonValue | undefined, channel: string): void {
    sink.onLeftOut?.('media');
    const transcript = isObject(value) ? value['transcript'] : undefined;
    if (typeof transcript === 'string') sink.onTranscript?.(channel, transcript);
  }

  function readHosted(value: JsonValue | undefined, channel: string): void {
    if (value !== null && value !== undefined) sink.onResult?.(channel, value);
  }
}

/** A thought of Gemini stands in the place of the text that follows it. */
function channelOf(object: JsonObject, outer: string, kind: WrittenKind | null): string {
  let channel = kind === 'reasoning' && object['thought'] === true ? `${outer}.thought` : outer;
  for (const name of INDEXES) {
    const index = object[name];
    if (typeof index === 'number') channel += `#${index}`;
  }
  return channel;
}

/** The type of a Responses event says what its `delta` is. */
function kindOfDelta(type: string): WrittenKind | null {
  if (!RESPONSES_EVENT.test(type)) return null;
  if (type.includes('reasoning')) return 'reasoning';
  return type.includes('text.') || type.includes('refusal') || type.includes('transcript') ? null : 'tool_call';
}

/** Whether its place says nothing about what it follows: it has an index, or is a part of Gemini, which goes on. */
function isPlaced(object: JsonObject, channel: string): boolean {
  return typeof object['index'] === 'number' || channel.endsWith('.parts');
}
