/**
 * Bedrock's invoke and invoke-with-response-stream: the body is the model's own format, told apart here by its form and
 * never by the model's name. Usage stands in the body, in the metrics of a stream's last chunk and in headers; the
 * first of these that has any is counted, and the others only have to agree with it.
 * Source: AWS, Bedrock user guide, "Inference request parameters and response fields"; InvokeModel; November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { CHOICE_PATTERNS, readChoices } from './chat-completions.ts';
import { normaliseTokenUsage } from './converse.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { normaliseMessage, readOpening, readStopReason, withKnownOutput, withReportedOutput } from './messages.ts';
import { CHAT_NAMES, normaliseOpenAi } from './openai-usage.ts';
import {
  createDraft,
  type Normalised,
  withContext,
  withFinalUsage,
  withPart,
  withTerminal,
  withUsage,
} from './reading.ts';
import type { ReadHeader, Shape } from './shape.ts';

const METRICS = 'amazon-bedrock-invocationMetrics';
const HEADERS = 'response_headers';

interface CountNames {
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string;
  readonly cacheWrite: string;
}

const METRIC_NAMES: CountNames = {
  input: 'inputTokenCount',
  output: 'outputTokenCount',
  cacheRead: 'cacheReadInputTokenCount',
  cacheWrite: 'cacheWriteInputTokenCount',
};

const HEADER_NAMES: CountNames = {
  input: 'x-amzn-bedrock-input-token-count',
  output: 'x-amzn-bedrock-output-token-count',
  cacheRead: 'x-amzn-bedrock-cache-read-input-token-count',
  cacheWrite: 'x-amzn-bedrock-cache-write-input-token-count',
};

function normaliseCounts(counts: JsonObject, names: CountNames): Normalised {
  const draft = createDraft();
  draft.set('input', readCount(counts, names.input));
  draft.set('cache_read', readCount(counts, names.cacheRead));
  draft.set('cache_creation_5m', readCount(counts, names.cacheWrite));
  draft.set('output', readCount(counts, names.output));
  return draft.done(null);
}

/** Titan and Llama count in names of their own; Cohere says what is billed; pictures are counted. */
function normaliseOwnNames(native: JsonObject): Normalised {
  const draft = createDraft();
  const billed = readObject(native, 'billed_units') ?? undefined;
  const results = readArray(native, 'results').flatMap((result) => readCount(result, 'tokenCount') ?? []);
  const resultTokens = results.length === 0 ? null : results.reduce((sum, count) => sum + count, 0);
  draft.set(
    'input',
    readCount(native, 'inputTextTokenCount') ??
      readCount(native, 'prompt_token_count') ??
      readCount(billed, 'input_tokens'),
  );
  draft.set(
    'output',
    readCount(native, 'totalOutputTextTokenCount') ??
      resultTokens ??
      readCount(native, 'generation_token_count') ??
      readCount(billed, 'output_tokens'),
  );
  draft.set('output_images', readCount(native, 'images'));
  draft.set('rerank_queries', readCount(billed, 'search_units'));
  return draft.done(null);
}

function hasAny(native: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => readCount(native, name) !== null);
}

function normaliseBody(native: JsonObject): Normalised {
  if (hasAny(native, ['input_tokens', 'output_tokens'])) return normaliseMessage(native);
  if (hasAny(native, ['inputTokens', 'outputTokens'])) return normaliseTokenUsage(native);
  if (hasAny(native, ['prompt_tokens', 'completion_tokens'])) return normaliseOpenAi(native, CHAT_NAMES, {});
  return normaliseOwnNames(native);
}

type Classes = Normalised['classes'];

/** Input may be given with or without what the cache holds; a count that only one of the two has says nothing. */
function agree(counted: Classes, other: Classes): boolean {
  const cached = (counted.cache_read ?? 0) + (counted.cache_creation_5m ?? 0) + (counted.cache_creation_1h ?? 0);
  const { input, output } = counted;
  const isInputEqual = input === undefined || [undefined, input, input + cached].includes(other.input);
  return isInputEqual && (output === undefined || [undefined, output].includes(other.output));
}

function normalise(native: JsonObject): Normalised {
  const sources = [
    normaliseBody(native),
    normaliseCounts(readObject(native, METRICS) ?? {}, METRIC_NAMES),
    normaliseCounts(readObject(native, HEADERS) ?? {}, HEADER_NAMES),
  ].filter(({ classes }) => Object.keys(classes).length > 0);
  const [best, ...others] = sources;
  if (best === undefined) return createDraft().done(null);
  return { ...best, consistent: best.consistent && others.every(({ classes }) => agree(best.classes, classes)) };
}

const OWN_COUNTS = ['inputTextTokenCount', 'totalOutputTextTokenCount', 'prompt_token_count', 'generation_token_count'];

/** Everything in a body or chunk that counts something, under the names it came with. */
function collectNative(body: JsonObject): JsonObject {
  const holder = readObject(body, 'message') ?? readObject(body, 'metadata');
  const usage = readObject(body, 'usage') ?? readObject(holder ?? undefined, 'usage');
  const billed = readObject(readObject(body, 'meta') ?? undefined, 'billed_units');
  const metrics = readObject(body, METRICS);
  const results = readArray(body, 'results').filter((result) => readCount(result, 'tokenCount') !== null);
  const images = readArray(body, 'images').length;
  const counts = OWN_COUNTS.flatMap((name): [string, JsonValue][] => {
    const count = readCount(body, name);
    return count === null ? [] : [[name, count]];
  });
  return {
    ...usage,
    ...Object.fromEntries(counts),
    ...(results.length === 0
      ? {}
      : { results: results.map((result) => ({ tokenCount: readCount(result, 'tokenCount') })) }),
    ...(billed === null ? {} : { billed_units: billed }),
    ...(images === 0 ? {} : { images }),
    ...(metrics === null ? {} : { [METRICS]: metrics }),
  };
}

function readBody(body: JsonObject, reading: UsageReading): UsageReading {
  const native = collectNative(body);
  const holder = readObject(body, 'message') ?? undefined;
  // The header says how the call was billed; the model's own word counts where there is none.
  const tier = readName(native, 'service_tier') ?? readName(body, 'service_tier');
  const seen = withContext(withUsage(reading, native, normalise), {
    model: readName(body, 'model') ?? readName(holder, 'model'),
    serviceTier: reading.serviceTier ?? tier,
    speed: reading.speed ?? readName(native, 'speed'),
    inferenceGeo: readName(native, 'inference_geo'),
  });
  return withErrorMember(seen, body);
}

function readEvent(_eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const seen = withFinalUsage(reading, readParts(data, readOwnUsage(data, reading)));
  const isLast = readName(data, 'type') === 'message_stop' || readObject(data, METRICS) !== null;
  return isLast ? withTerminal(seen) : seen;
}

function readOwnUsage(data: JsonObject, reading: UsageReading): UsageReading {
  const seen = readBody(data, reading);
  switch (readName(data, 'type')) {
    case 'message_start':
      return readOpening(data, seen, reading);
    case 'message_delta':
      return withReportedOutput(data, seen, reading);
    case 'message_stop':
      return withKnownOutput(seen);
    default:
      return seen;
  }
}

/** How each family of models says that it goes on, and that it has come to its end. */
function readParts(data: JsonObject, reading: UsageReading): UsageReading {
  if (readName(data, 'type') === 'message_delta') return readStopReason(data, reading);
  if (readArray(data, 'choices').length > 0) return readChoices(data, reading);
  if (readObject(data, 'messageStart') !== null) return withPart(reading, 0, false);
  if (readObject(data, 'messageStop') !== null) return withPart(reading, 0, true);
  if ('generation' in data) return withPart(reading, 0, readName(data, 'stop_reason') !== null);
  if ('outputText' in data) return withPart(reading, 0, readName(data, 'completionReason') !== null);
  if (typeof data['is_finished'] === 'boolean') return withPart(reading, 0, data['is_finished']);
  return readArray(data, 'outputs').reduce<UsageReading>(
    (seen, output, index) => withPart(seen, index, readName(output, 'stop_reason') !== null),
    reading,
  );
}

function readHead(header: ReadHeader, reading: UsageReading): UsageReading {
  const counts = Object.values(HEADER_NAMES).flatMap((name: string): [string, JsonValue][] => {
    const text = header(name) ?? '';
    return /^\d{1,15}$/.test(text) ? [[name, Number(text)]] : [];
  });
  const native: JsonObject = counts.length === 0 ? {} : { [HEADERS]: Object.fromEntries(counts) };
  return withContext(withUsage(reading, native, normalise), {
    serviceTier: header('x-amzn-bedrock-service-tier'),
    speed: header('x-amzn-bedrock-performanceconfig-latency'),
  });
}

export const invoke: Shape = {
  name: 'invoke',
  readHead,
  readJson: (body, reading) => withTerminal(isObject(body) ? readBody(body, reading) : reading),
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    METRICS,
    String.raw`"type"\s*:\s*"message_`,
    String.raw`oken(?:C|_c)ount"\s*:\s*\d`,
    '"billed_units"',
    '"messageStop"',
    String.raw`"(?:stop_reason|completionReason)"\s*:\s*"`,
    String.raw`"is_finished"\s*:\s*true`,
    ...CHOICE_PATTERNS,
  ),
  readEvent,
  doneText: null,
};
