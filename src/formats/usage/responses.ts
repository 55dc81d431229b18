/**
 * OpenAI's Responses format, also compaction and decisions. A stream's terminal event wraps everything in `response`. A
 * background response reports usage to the call that waits for or fetches it.
 */
import type { JsonObject, JsonValue, OtherUsage, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { createPictures, type Drawn, NOTHING_DRAWN, normaliseImageTool, normaliseSvg } from './image-usage.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { withError, withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import {
  type Normalised,
  withContext,
  withEnding,
  withLaterResult,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

const FINAL_STATUSES: readonly string[] = ['completed', 'incomplete', 'failed', 'cancelled'];
const TERMINAL_EVENTS = FINAL_STATUSES.map((status) => `response.${status}`);
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"response\.(?:${FINAL_STATUSES.join('|')})"`;
const BACKGROUND_PATTERN = String.raw`"background"\s*:\s*true`;

/** Counts provider-run calls among the output; null when there were none. */
function countItems(body: JsonObject, type: string, isBilled: (item: JsonValue) => boolean): number | null {
  const items = readArray(body, 'output').filter(
    (item) => readName(item, 'type') === type && readName(item, 'status') !== 'failed' && isBilled(item),
  );
  return items.length > 0 ? items.length : null;
}

/** Opening a page found earlier is not a search. */
function isSearch(item: JsonValue): boolean {
  const action = readObject(item, 'action');
  return action === null || readName(action, 'type') === 'search';
}

/** The hosted shell; any other runs at the client. */
function isHosted(item: JsonValue): boolean {
  return readName(readObject(item, 'environment'), 'type') === 'container_reference';
}

/** Both run in containers billed by session, which no answer counts. */
function countExecutions(body: JsonObject): number | null {
  const code = countItems(body, 'code_interpreter_call', () => true);
  const shell = countItems(body, 'shell_call', isHosted);
  return code === null ? shell : code + (shell ?? 0);
}

/** Free, run by the client, or counted above: calls without a further price. */
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

/** An unknown tool may be billed beside its tokens. */
function hasUnknownCall(body: JsonObject): boolean {
  return readArray(body, 'output').some((item) => {
    const type = readName(item, 'type') ?? '';
    return type.endsWith('_call') && !KNOWN_CALLS.includes(type);
  });
}

/** The image tool's model has tokens apart from `usage`; the echoed tools name it. */
function readImageModel(body: JsonObject): string | null {
  const tool = readArray(body, 'tools').find((entry) => readName(entry, 'type') === 'image_generation');
  return readName(tool, 'model');
}

/** Its tokens, or its pictures where tokens are not reported. */
function readImageTool(native: JsonObject, body: JsonObject): Drawn {
  const model = readImageModel(body);
  const reported = readObject(readObject(native, 'tool_usage'), 'image_gen');
  if (reported !== null) return normaliseImageTool(reported, model);
  const pictures = countItems(body, 'image_generation_call', (item) => readObject(item, 'svg_usage') === null);
  return pictures === null ? NOTHING_DRAWN : createPictures(pictures, model);
}

/**
 * The older search tool costs more with models that do not reason, and its results are not billed as tokens, so it is
 * priced as a model of this name. Source: OpenAI, API pricing, built-in tools, November 2026.
 */
const PREVIEW_SEARCH = 'web_search_preview';
const NOT_REASONING = /^gpt-4/;
/** Search results cost a fixed number of tokens here, which the usage may leave out. */
const FIXED_SEARCH_CONTENT = /^gpt-(?:4o|4\.1)-mini/;

interface Searches {
  readonly own: number | null;
  readonly preview: OtherUsage | null;
  readonly isIncomplete: boolean;
}

function readSearches(native: JsonObject, body: JsonObject): Searches {
  const webSearch = readObject(readObject(native, 'tool_usage'), 'web_search');
  const own =
    readCount(webSearch, 'num_requests') ??
    readCount(readObject(native, 'server_tool_use'), 'web_search_requests') ??
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
    const drawn = [readImageTool(native, body), ...readArray(native, 'svg_usage').map(normaliseSvg)];
    const others = [...drawn.flatMap((each) => each.others), ...(searches.preview === null ? [] : [searches.preview])];
    const isIncomplete =
      normalised.isIncomplete === true ||
      searches.isIncomplete ||
      drawn.some((each) => each.isIncomplete) ||
      hasUnknownCall(body) ||
      isDiscounted(readName(readObject(body, 'background_options'), 'completion_window') ?? undefined);
    return { ...normalised, others, isIncomplete };
  };
}

/** A response that may be made hours later is cheaper, by a share that the book does not have. */
export function isDiscounted(completionWindow: string | undefined): boolean {
  return completionWindow !== undefined && completionWindow !== 'soonest';
}

/** The usage object, and what is billed beside it. */
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

/** A response made in the foreground is its own result, and so is a later copy. */
function withBackground(reported: ReportedUsage, body: JsonObject): ReportedUsage {
  if (body['background'] !== true) return reported;
  const status = readName(body, 'status') ?? '';
  return withEnding(withLaterResult(reported, readName(body, 'id'), FINAL_STATUSES.includes(status)), status);
}

function readBody(body: JsonObject, reported: ReportedUsage): ReportedUsage {
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  const seen = withContext(withUsage(reported, readReported(body), createNormalise(body)), context);
  const answerId = readName(body, 'id');
  const named = answerId === null || answerId === seen.answerId ? seen : { ...seen, answerId };
  return withErrorMember(withBackground(named, body), body);
}

function readEvent(eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const type = readName(data, 'type') ?? eventType ?? '';
  if (type === 'error') {
    const wrapped = withErrorMember(reported, data);
    return wrapped === reported ? withError(reported, readName(data, 'code'), data['message']) : wrapped;
  }
  const seen = readBody(readObject(data, 'response') ?? data, reported);
  return TERMINAL_EVENTS.includes(type) ? withTerminal(seen) : seen;
}

export const responses: UsageFormat = {
  name: 'responses',
  readJson: (body, reported) => withTerminal(isObject(body) ? readBody(body, reported) : reported),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN, BACKGROUND_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
