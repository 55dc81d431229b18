/** Chat completions and legacy completions in OpenAI's format. Stream chunks differ by host in where usage stands. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { CHAT_NAMES, normaliseOpenAi } from './openai-usage.ts';
import { readPromptHeaders } from './prompt-headers.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import { type Normalised, withContext, withFinalUsage, withPart, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

/** Fireworks reports the cached part under the names of its headers, as text. */
const PERF_CACHED_NAMES = ['fireworks-cached-prompt-tokens', 'cached-prompt-tokens', 'cached_prompt_tokens'] as const;

function cachedByPerfMetrics(native: JsonObject): number | null {
  const metrics = readObject(native, 'perf_metrics');
  for (const name of PERF_CACHED_NAMES) {
    const value = metrics?.[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  }
  return null;
}

/** These models search before every answer, and only their price list says so. */
const SEARCH_MODELS = /^gpt-.+-search-(?:preview|api)/;

function createNormalise(model: string | null): (native: JsonObject) => Normalised {
  const webSearches = model !== null && SEARCH_MODELS.test(model) ? 1 : null;
  return (native) =>
    normaliseOpenAi(native, CHAT_NAMES, { model, cachedElsewhere: cachedByPerfMetrics(native), webSearches });
}

/** Moonshot's models write usage into the first choice; the counts of several choices may or may not add up. */
function readChoiceUsage(body: JsonObject): { readonly usage: JsonObject | undefined; readonly isOne: boolean } {
  const found = readArray(body, 'choices').flatMap((choice) => {
    const usage = readObject(choice, 'usage');
    return usage === null ? [] : [{ usage, isFirst: (readCount(choice, 'index') ?? 0) === 0 }];
  });
  return { usage: found.at(-1)?.usage, isOne: found.every(({ isFirst }) => isFirst) && found.length < 2 };
}

function withReported(
  reported: ReportedUsage,
  body: JsonObject,
  normalise: (native: JsonObject) => Normalised,
): ReportedUsage {
  const own = readObject(body, 'usage');
  if (own !== null) return withUsage(reported, own, normalise);
  const { usage, isOne } = readChoiceUsage(body);
  const mark = isOne ? {} : { isIncomplete: true };
  return withUsage(reported, usage, (native) => ({ ...normalise(native), ...mark }));
}

function readBody(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return reported;
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  const normalise = createNormalise(context.model ?? reported.model);
  const metrics = readObject(body, 'perf_metrics');
  // The metrics stand beside the usage on an earlier chunk, and are kept with it.
  const hasCached = metrics !== null && cachedByPerfMetrics({ perf_metrics: metrics }) !== null;
  const seen = withContext(withReported(reported, body, normalise), context);
  return withErrorMember(hasCached ? withUsage(seen, { perf_metrics: metrics }, normalise) : seen, body);
}

function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  return withFinalUsage(reported, readChoices(data, readBody(data, reported)));
}

/** Other formats with similar choices use this too. */
export function readChoices(data: JsonValue, reported: ReportedUsage): ReportedUsage {
  return readArray(data, 'choices').reduce<ReportedUsage>((seen, choice) => {
    const isFinished = readName(choice, 'finish_reason') !== null || readName(choice, 'stop_reason') !== null;
    return withPart(seen, readCount(choice, 'index') ?? 0, isFinished);
  }, reported);
}

/** Match a choice's finish reason, and choices beside the first. */
export const CHOICE_PATTERNS = [String.raw`"finish_reason"\s*:\s*"`, String.raw`"index"\s*:\s*[1-9]`] as const;

export const chatCompletions: UsageFormat = {
  name: 'chat-completions',
  readHead: (header, reported) => withUsage(reported, readPromptHeaders(header), createNormalise(null)),
  readJson: (body, reported) => withTerminal(readBody(body, reported)),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, String.raw`"perf_metrics"\s*:\s*\{`, ...CHOICE_PATTERNS),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
