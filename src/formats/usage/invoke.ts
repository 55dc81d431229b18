/**
 * Bedrock's invoke and invoke-with-response-stream: the body is the model's own format, told by its form and not by the
 * model's name. Usage stands in the body, the last chunk's metrics and headers; the first with any counts, the others
 * must agree. Source: AWS, Bedrock user guide, "Inference request parameters and response fields"; InvokeModel;
 * November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { CHOICE_PATTERNS, readChoices } from './chat-completions.ts';
import { normaliseTokenUsage } from './converse.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { normaliseMessage, readOpening, readStopReason, withKnownOutput, withReportedOutput } from './messages.ts';
import { CHAT_NAMES, normaliseOpenAi } from './openai-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import {
  createDraft,
  type Normalised,
  withContext,
  withFinalUsage,
  withPart,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import type { ReadHeader, UsageFormat } from './usage-format.ts';

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

/** Titan and Llama have their own names, Cohere says what is billed, and pictures are counted. */
function normaliseOwnNames(native: JsonObject): Normalised {
  const draft = createDraft();
  const billed = readObject(native, 'billed_units');
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

/** Either count may include the cache; a count that only one side has proves nothing. */
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

function collectNative(body: JsonObject): JsonObject {
  const holder = readObject(body, 'message') ?? readObject(body, 'metadata');
  const usage = readObject(body, 'usage') ?? readObject(holder, 'usage');
  const billed = readObject(readObject(body, 'meta'), 'billed_units');
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

function readBody(body: JsonObject, reported: ReportedUsage): ReportedUsage {
  const native = collectNative(body);
  const holder = readObject(body, 'message');
  // The header says how the call was billed; the body counts where there is none.
  const tier = readName(native, 'service_tier') ?? readName(body, 'service_tier');
  const seen = withContext(withUsage(reported, native, normalise), {
    model: readName(body, 'model') ?? readName(holder, 'model'),
    serviceTier: reported.serviceTier ?? tier,
    speed: reported.speed ?? readName(native, 'speed'),
    inferenceGeo: readName(native, 'inference_geo'),
  });
  return withErrorMember(seen, body);
}

function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const seen = withFinalUsage(reported, readParts(data, readOwnUsage(data, reported)));
  const isLast = readName(data, 'type') === 'message_stop' || readObject(data, METRICS) !== null;
  return isLast ? withTerminal(seen) : seen;
}

function readOwnUsage(data: JsonObject, reported: ReportedUsage): ReportedUsage {
  const seen = readBody(data, reported);
  switch (readName(data, 'type')) {
    case 'message_start':
      return readOpening(data, seen, reported);
    case 'message_delta':
      return withReportedOutput(data, seen, reported);
    case 'message_stop':
      return withKnownOutput(seen);
    default:
      return seen;
  }
}

/** How each model family marks unfinished and finished answers. */
function readParts(data: JsonObject, reported: ReportedUsage): ReportedUsage {
  if (readName(data, 'type') === 'message_delta') return readStopReason(data, reported);
  if (readArray(data, 'choices').length > 0) return readChoices(data, reported);
  if (readObject(data, 'messageStart') !== null) return withPart(reported, 0, false);
  if (readObject(data, 'messageStop') !== null) return withPart(reported, 0, true);
  if ('generation' in data) return withPart(reported, 0, readName(data, 'stop_reason') !== null);
  if ('outputText' in data) return withPart(reported, 0, readName(data, 'completionReason') !== null);
  if (typeof data['is_finished'] === 'boolean') return withPart(reported, 0, data['is_finished']);
  return readArray(data, 'outputs').reduce<ReportedUsage>(
    (seen, output, index) => withPart(seen, index, readName(output, 'stop_reason') !== null),
    reported,
  );
}

function readHead(header: ReadHeader, reported: ReportedUsage): ReportedUsage {
  const counts = Object.values(HEADER_NAMES).flatMap((name: string): [string, JsonValue][] => {
    const text = header(name) ?? '';
    return /^\d{1,15}$/.test(text) ? [[name, Number(text)]] : [];
  });
  const native: JsonObject = counts.length === 0 ? {} : { [HEADERS]: Object.fromEntries(counts) };
  return withContext(withUsage(reported, native, normalise), {
    serviceTier: header('x-amzn-bedrock-service-tier'),
    speed: header('x-amzn-bedrock-performanceconfig-latency'),
  });
}

export const invoke: UsageFormat = {
  name: 'invoke',
  readHead,
  readJson: (body, reported) => withTerminal(isObject(body) ? readBody(body, reported) : reported),
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
