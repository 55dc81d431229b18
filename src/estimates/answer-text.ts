/**
 * The text that a model wrote, from an answer's body as far as it came, whichever API it is of: a stream of any
 * framing, or one JSON body. What was written stands everywhere under a few names; everything else (usage, identifiers,
 * citations, snapshots of what was streamed before) is passed over.
 */
import { createFraming } from '../shapes/framing.ts';
import { isObject, parseJson, readName, readObject } from '../shapes/json-reading.ts';
import type { JsonObject, JsonValue } from '../token-usage.ts';
import type { NotCounted } from './not-counted.ts';
import { parseCutJson } from './parse-cut-json.ts';
import { type CollectedText, createTextCollector } from './text-collector.ts';

/** What a model wrote, when it is a string. */
const WRITTEN: ReadonlySet<string> = new Set([
  'content',
  'text',
  'thinking',
  'reasoning',
  'reasoning_content',
  'refusal',
  'delta',
  'partial_json',
  'name',
  'arguments',
  'input',
  'code',
  'generation',
  'outputText',
  'completion',
]);
/** The same, when it is an object: arguments of tools. */
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
  // Of the answer so far, or of all of it.
  'response',
  'interaction',
  'part',
]);
/** Sound and pictures, in base64. */
const MEDIA: ReadonlySet<string> = new Set(['audio', 'inlineData', 'b64_json', 'partial_image_b64']);
/** Tell pieces of several texts apart that come in turns. */
const INDEXES: readonly string[] = ['index', 'output_index', 'content_index', 'summary_index', 'contentBlockIndex'];

/** Events of the Responses API: only these bring something new, and of the deltas the sound does not count. */
const RESPONSES_EVENT = /^response\./;
const RESPONSES_TEXT = /^response\.(?!audio\.|output_audio\.).+\.delta$/;
const ITEM_ADDED = 'response.output_item.added';
/** What a tool answered, in the midst of what the model wrote. */
const TOOL_RESULT = /_result$|_call_output$/;

/** Such a part says that the model thinks; of what it thinks, no more than a summary is sent. */
const REASONING: readonly string[] = ['reasoning', 'thinking', 'redacted_thinking'];

const MAX_DEPTH = 60;

export interface AnswerText {
  readonly all: CollectedText;
  /** What came after the last report of tokens written so far; null when there was none. */
  readonly sinceReport: CollectedText | null;
  /** False: one JSON body in which nothing was written. */
  readonly hasBegun: boolean;
  readonly notCounted: readonly NotCounted[];
}

/** Null when the body is of another kind, or nothing in it can be read. */
export function readAnswerText(body: Buffer, contentType: string | null): AnswerText | null {
  const collector = createTextCollector();
  const notCounted = new Set<NotCounted>();
  // Mutable because the answer is read event by event.
  const seen = { events: 0, isStream: false };

  function readValue(value: JsonValue | undefined): void {
    if (!isObject(value)) return;
    seen.events += 1;
    const chunk = readChunk(value);
    readWritten(chunk, collector.add, (what) => notCounted.add(what));
    if (reportsOutput(chunk)) collector.mark();
  }

  const framing = createFraming(
    contentType,
    // All of what the model wrote is counted, and the body is in memory as it is.
    { canBeArray: true, areLines: false, largeBytes: Number.POSITIVE_INFINITY },
    {
      onEvent: (_type, data) => {
        seen.isStream = true;
        readValue(parseJson(data) ?? parseCutJson(data.toString('utf8')));
      },
      onFrame: ({ messageType, payload }) => {
        seen.isStream = true;
        if (messageType === 'event') readValue(parseJson(payload));
      },
      onBody: (whole) => readValue(parseJson(whole) ?? parseCutJson(whole.toString('utf8'))),
      onClosed: () => {},
      onProblem: () => {},
    },
  );
  if (framing === null) return null;
  framing.push(body);
  framing.finish();
  if (seen.events === 0) return null;
  const all = collector.all();
  return {
    all,
    sinceReport: collector.sinceMark(),
    hasBegun: seen.isStream || all.texts.length > 0 || all.overBytes > 0,
    notCounted: [...notCounted],
  };
}

/** Bedrock wraps each event of a model's own stream in base64. */
function readChunk(event: JsonObject): JsonObject {
  const { bytes } = event;
  const inner = typeof bytes === 'string' ? parseJson(Buffer.from(bytes, 'base64')) : undefined;
  return isObject(inner) ? inner : event;
}

function readWritten(
  event: JsonObject,
  add: (channel: string, text: string) => void,
  leaveOut: (what: NotCounted) => void,
): void {
  const type = readName(event, 'type') ?? '';
  if (type === 'error') return;
  if (RESPONSES_EVENT.test(type) && type !== ITEM_ADDED && !RESPONSES_TEXT.test(type)) return;
  // The whole answer of the Responses API repeats its request, too.
  if (readName(event, 'object') === 'response') walk(event['output'] ?? null, 'output', 0);
  else walk(event, '', 0);

  function walk(value: JsonValue, channel: string, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const [position, element] of value.entries())
        walk(element, isObject(element) && hasIndex(element) ? channel : `${channel}.${position}`, depth + 1);
    } else if (isObject(value)) walkObject(value, channel, depth);
  }

  function walkObject(object: JsonObject, outer: string, depth: number): void {
    const kind = readName(object, 'type') ?? '';
    if (TOOL_RESULT.test(kind)) return;
    if (REASONING.includes(kind)) leaveOut('hidden_reasoning');
    const channel = INDEXES.reduce((path, name) => {
      const index = object[name];
      return typeof index === 'number' ? `${path}#${index}` : path;
    }, outer);
    for (const [name, value] of Object.entries(object)) {
      if (PASSED_OVER.has(name)) continue;
      if (MEDIA.has(name)) leaveOut('media');
      else if (typeof value === 'string') {
        if (WRITTEN.has(name)) add(`${channel}.${name}`, value);
      } else if (WRITTEN_AS_JSON.has(name) && isObject(value)) {
        if (Object.keys(value).length > 0) add(`${channel}.${name}`, JSON.stringify(value));
      } else if (value !== null) walk(value, `${channel}.${name}`, depth + 1);
    }
  }
}

function hasIndex(object: JsonObject): boolean {
  return typeof object['index'] === 'number';
}

const OUTPUT_COUNTS: readonly string[] = [
  'completion_tokens',
  'output_tokens',
  'candidatesTokenCount',
  'outputTokens',
  'total_output_tokens',
  'generation_token_count',
  'totalOutputTextTokenCount',
  'outputTokenCount',
];

/** What Anthropic's stream says at its beginning is a placeholder. */
function reportsOutput(event: JsonObject): boolean {
  const holders = [
    event,
    readObject(event, 'usage'),
    readObject(event, 'usageMetadata'),
    readObject(readObject(event, 'response') ?? undefined, 'usage'),
    readObject(readObject(event, 'interaction') ?? undefined, 'usage'),
    readObject(readObject(event, 'metadata') ?? undefined, 'usage'),
    readObject(event, 'amazon-bedrock-invocationMetrics'),
  ];
  return holders.some((holder) => holder !== null && OUTPUT_COUNTS.some((name) => typeof holder[name] === 'number'));
}
