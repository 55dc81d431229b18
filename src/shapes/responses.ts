/**
 * OpenAI's Responses format, and what answers with the same usage object: compaction and decisions. In streams
 * everything stands in the terminal event, wrapped in `response`. A background response is answered before it is made;
 * its usage comes with the call that waits for it or fetches it.
 */
import type { JsonObject, JsonValue, OtherUsage, UsageReading } from '../token-usage.ts';
import { withError, withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { createPictures, normaliseImageTool, normaliseSvg } from './image-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { type Normalised, withContext, withLaterResult, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

const FINAL_STATUSES: readonly string[] = ['completed', 'incomplete', 'failed', 'cancelled'];
const TERMINAL_EVENTS = FINAL_STATUSES.map((status) => `response.${status}`);
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"response\.(?:${FINAL_STATUSES.join('|')})"`;
const BACKGROUND_PATTERN = String.raw`"background"\s*:\s*true`;

/** Calls that the provider ran itself and that are among the output; null when there were none. */
function countItems(body: JsonObject, type: string, isBilled: (item: JsonValue) => boolean): number | null {
  const items = readArray(body, 'output').filter(
    (item) => readName(item, 'type') === type && readName(item, 'status') !== 'failed' && isBilled(item),
  );
  return items.length > 0 ? items.length : null;
}

/** Opening a page of a result that was found before is not a search. */
function isSearch(item: JsonValue): boolean {
  const action = readObject(item, 'action');
  return action === null || readName(action, 'type') === 'search';
}

/** The hosted shell; another shell is the client's own. */
function isHosted(item: JsonValue): boolean {
  return readName(readObject(item, 'environment') ?? undefined, 'type') === 'container_reference';
}

/** Both run in containers that are billed by the session, which no answer counts. */
function countExecutions(body: JsonObject): number | null {
  const code = countItems(body, 'code_interpreter_call', () => true);
  const shell = countItems(body, 'shell_call', isHosted);
  return code === null ? shell : code + (shell ?? 0);
}

/** Free, run by the client, or counted above: all that an answer can call without another price on its bill. */
const KNOWN_CALLS: readonly string[] = [
  'function_call',
  'custom_tool_call',
  'tool_search_call',
  'mcp_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
];

/** Of a tool that is not known here nobody knows whether it is billed beside its tokens. */
function hasUnknownCall(body: JsonObject): boolean {
  return readArray(body, 'output').some((item) => {
    const type = readName(item, 'type') ?? '';
    return type.endsWith('_call') && !KNOWN_CALLS.includes(type);
  });
}

/** The image tool works with another model, whose tokens stand apart from `usage`; the echoed tools name it. */
function readImageModel(body: JsonObject): string | null {
  const tool = readArray(body, 'tools').find((entry) => readName(entry, 'type') === 'image_generation');
  return readName(tool, 'model');
}

/** Its tokens, or where they are not reported the number of its pictures. */
function readImageTool(native: JsonObject, body: JsonObject): OtherUsage | null {
  const model = readImageModel(body);
  const reported = readObject(readObject(native, 'tool_usage') ?? undefined, 'image_gen');
  if (reported !== null) return normaliseImageTool(reported, model);
  const pictures = countItems(body, 'image_generation_call', (item) => readObject(item, 'svg_usage') === null);
  return pictures === null ? null : createPictures(pictures, model);
}

/**
 * The older search tool costs more with models that do not reason, and what it finds costs no tokens there: it is billed
 * as a model of this name. Source: OpenAI, API pricing, built-in tools, November 2026.
 */
const PREVIEW_SEARCH = 'web_search_preview';
const NOT_REASONING = /^gpt-4/;
/** Billed a fixed number of tokens for what a search found, which the usage does not say to have in it. */
const FIXED_SEARCH_CONTENT = /^gpt-(?:4o|4\.1)-mini/;

interface Searches {
  readonly own: number | null;
  readonly preview: OtherUsage | null;
  readonly isIncomplete: boolean;
}

function readSearches(native: JsonObject, body: JsonObject): Searches {
  const webSearch = readObject(readObject(native, 'tool_usage') ?? undefined, 'web_search') ?? undefined;
  const own =
    readCount(webSearch, 'num_requests') ??
    readCount(readObject(native, 'server_tool_use') ?? undefined, 'web_search_requests') ??
    countItems(body, 'web_search_call', isSearch);
  const model = readName(body, 'model') ?? '';
  const isPreview = readArray(body, 'tools').some(
    (tool) => readName(tool, 'type')?.startsWith(PREVIEW_SEARCH) === true,
  );
  if (own === null || own === 0 || !NOT_REASONING.test(model)) return { own, preview: null, isIncomplete: false };
  if (!isPreview) return { own, preview: null, isIncomplete: FIXED_SEARCH_CONTENT.test(model) };
  const preview = { purpose: 'web_search', model: PREVIEW_SEARCH, classes: { web_search_requests: own } };
  return { own: null, preview, isIncomplete: false };
}

function createNormalise(body: JsonObject): (native: JsonObject) => Normalised {
  return (native) => {
    const searches = readSearches(native, body);
    const normalised = normaliseOpenAi(native, RESPONSES_NAMES, {
      webSearches: searches.own,
      fileSearches: countItems(body, 'file_search_call', () => true),
      codeExecutions: countExecutions(body),
    });
    const drawings = readArray(native, 'svg_usage').flatMap((entry) => normaliseSvg(entry) ?? []);
    const others = [readImageTool(native, body), ...drawings, searches.preview].filter((other) => other !== null);
    const isIncomplete = normalised.isIncomplete === true || searches.isIncomplete || hasUnknownCall(body);
    return { ...normalised, others, isIncomplete };
  };
}

/** The usage object, and with it what is billed and stands beside it. */
function readReported(body: JsonObject): JsonObject | undefined {
  const usage = readObject(body, 'usage');
  if (usage === null) return undefined;
  const tools = readObject(body, 'tool_usage');
  const drawings = readArray(body, 'output').flatMap((item) => readObject(item, 'svg_usage') ?? []);
  return {
    ...usage,
    ...(tools === null ? {} : { tool_usage: tools }),
    ...(drawings.length === 0 ? {} : { svg_usage: drawings }),
  };
}

/** An answer that is not of a background response is its own result, and so is a copy of it that is fetched later. */
function withBackground(reading: UsageReading, body: JsonObject): UsageReading {
  if (body['background'] !== true) return reading;
  return withLaterResult(reading, readName(body, 'id'), FINAL_STATUSES.includes(readName(body, 'status') ?? ''));
}

function readBody(body: JsonObject, reading: UsageReading): UsageReading {
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  const seen = withContext(withUsage(reading, readReported(body), createNormalise(body)), context);
  return withErrorMember(withBackground(seen, body), body);
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const type = readName(data, 'type') ?? eventType ?? '';
  if (type === 'error') {
    const wrapped = withErrorMember(reading, data);
    return wrapped === reading ? withError(reading, readName(data, 'code'), data['message']) : wrapped;
  }
  const seen = readBody(readObject(data, 'response') ?? data, reading);
  return TERMINAL_EVENTS.includes(type) ? withTerminal(seen) : seen;
}

export const responses: Shape = {
  name: 'responses',
  readJson: (body, reading) => withTerminal(isObject(body) ? readBody(body, reading) : reading),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN, BACKGROUND_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
