/**
 * OpenAI's Responses format, and its relatives with the same usage names: images, transcriptions, decisions. In
 * streams everything stands in the terminal event, wrapped in `response` or (images, audio) at its top level.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { hasMember, hasObjectMember } from './byte-tests.ts';
import { withError, withErrorMember } from './error-reading.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { type Normalised, withContext, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

const USAGE = Buffer.from('"usage"');
const ERROR = Buffer.from('"error"');

const TERMINAL_EVENTS: readonly string[] = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'image_generation.completed',
  'image_edit.completed',
  'transcript.text.done',
  'speech.audio.done',
];

/** Searches that are billed: as reported, else the search calls among the output (opening a page is not one). */
function webSearches(body: JsonObject): number | null {
  const reported = readCount(
    readObject(readObject(body, 'tool_usage') ?? undefined, 'web_search') ?? undefined,
    'num_requests',
  );
  if (reported !== null) return reported;
  const searches = readArray(body, 'output').filter((item) => {
    if (readName(item, 'type') !== 'web_search_call') return false;
    const action = readObject(item, 'action');
    return action === null || readName(action, 'type') === 'search';
  });
  return searches.length > 0 ? searches.length : null;
}

/** The image tool works with another model, whose tokens stand apart from `usage`. */
function withImageTool(normalised: Normalised, native: JsonObject): Normalised {
  const image = readObject(readObject(native, 'tool_usage') ?? undefined, 'image_gen') ?? undefined;
  const input = readCount(image, 'input_tokens') ?? 0;
  const output = readCount(image, 'output_tokens') ?? 0;
  if (input <= 0 && output <= 0) return normalised;
  const { classes } = normalised;
  return {
    ...normalised,
    classes: {
      ...classes,
      input_image: (classes.input_image ?? 0) + Math.max(0, Math.round(input)),
      output_image: (classes.output_image ?? 0) + Math.max(0, Math.round(output)),
    },
  };
}

function readBody(body: JsonObject, isImageAnswer: boolean, reading: UsageReading): UsageReading {
  const extras = { webSearches: webSearches(body), isImageAnswer };
  const normalise = (native: JsonObject) => withImageTool(normaliseOpenAi(native, RESPONSES_NAMES, extras), native);
  const usage = readObject(body, 'usage');
  const tools = readObject(body, 'tool_usage');
  // Kept with the usage, since it is billed and stands beside it.
  const reported = usage !== null && tools !== null ? { ...usage, tool_usage: tools } : usage;
  const seen = withUsage(reading, reported ?? undefined, normalise);
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  return withErrorMember(withContext(seen, context), body);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'input_tokens');
  if (counted !== null && body['usage'] === undefined) {
    const normalise = (native: JsonObject) => normaliseOpenAi(native, RESPONSES_NAMES, {});
    return withTerminal(withUsage(reading, { input_tokens: counted }, normalise));
  }
  return withTerminal(readBody(body, body['data'] !== undefined, reading));
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const type = readName(data, 'type') ?? eventType ?? '';
  if (type === 'error') {
    const wrapped = withErrorMember(reading, data);
    return wrapped === reading ? withError(reading, readName(data, 'code'), data['message']) : wrapped;
  }
  const isImageAnswer = type.startsWith('image_');
  const seen = readBody(readObject(data, 'response') ?? data, isImageAnswer, reading);
  return TERMINAL_EVENTS.includes(type) ? withTerminal(seen) : seen;
}

export const responses: Shape = {
  name: 'responses',
  readJson,
  mayMatter: (data) => hasObjectMember(data, USAGE) || hasMember(data, ERROR),
  readEvent,
  doneText: '[DONE]',
};
