/**
 * Chat completions and (legacy) completions in OpenAI's format, as OpenAI, Fireworks, Together, DeepSeek and others
 * serve them. In streams usage stands on the last chunk, on an extra chunk without choices, or on every chunk.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { CHAT_NAMES, normaliseOpenAi } from './openai-usage.ts';
import { readPromptHeaders } from './prompt-headers.ts';
import { type Normalised, withContext, withFinalUsage, withPart, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** Fireworks reports the cached part here, with the names of its headers and numbers as text. */
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

/** Models that search before every answer, which their usage does not mention and their price list does. */
const SEARCH_MODELS = /^gpt-.+-search-(?:preview|api)/;

function createNormalise(model: string | null): (native: JsonObject) => Normalised {
  const webSearches = model !== null && SEARCH_MODELS.test(model) ? 1 : null;
  return (native) => normaliseOpenAi(native, CHAT_NAMES, { cachedElsewhere: cachedByPerfMetrics(native), webSearches });
}

/**
 * Moonshot's models write it into the first choice, and some hosts pass that on as it is. Of several choices each has a
 * count of its own, and nobody says whether they add up.
 */
function readChoiceUsage(body: JsonObject): { readonly usage: JsonObject | undefined; readonly isOne: boolean } {
  const found = readArray(body, 'choices').flatMap((choice) => {
    const usage = readObject(choice, 'usage');
    return usage === null ? [] : [{ usage, isFirst: (readCount(choice, 'index') ?? 0) === 0 }];
  });
  return { usage: found.at(-1)?.usage, isOne: found.every(({ isFirst }) => isFirst) && found.length < 2 };
}

function withReported(
  reading: UsageReading,
  body: JsonObject,
  normalise: (native: JsonObject) => Normalised,
): UsageReading {
  const own = readObject(body, 'usage');
  if (own !== null) return withUsage(reading, own, normalise);
  const { usage, isOne } = readChoiceUsage(body);
  const mark = isOne ? {} : { isIncomplete: true };
  return withUsage(reading, usage, (native) => ({ ...normalise(native), ...mark }));
}

function readBody(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return reading;
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  const normalise = createNormalise(context.model ?? reading.model);
  const metrics = readObject(body, 'perf_metrics');
  // The metrics stand beside the usage, and on an earlier chunk; kept with it, since they are a part of the count.
  const hasCached = metrics !== null && cachedByPerfMetrics({ perf_metrics: metrics }) !== null;
  const seen = withContext(withReported(reading, body, normalise), context);
  return withErrorMember(hasCached ? withUsage(seen, { perf_metrics: metrics }, normalise) : seen, body);
}

function readEvent(_eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  return withFinalUsage(reading, readChoices(data, readBody(data, reading)));
}

/** Also the choices of other formats that look like this one. */
export function readChoices(data: JsonValue, reading: UsageReading): UsageReading {
  return readArray(data, 'choices').reduce<UsageReading>((seen, choice) => {
    const isFinished = readName(choice, 'finish_reason') !== null || readName(choice, 'stop_reason') !== null;
    return withPart(seen, readCount(choice, 'index') ?? 0, isFinished);
  }, reading);
}

/** That a choice has its finish reason; and that there are others beside the first. */
export const CHOICE_PATTERNS = [String.raw`"finish_reason"\s*:\s*"`, String.raw`"index"\s*:\s*[1-9]`] as const;

export const chatCompletions: Shape = {
  name: 'chat-completions',
  readHead: (header, reading) => withUsage(reading, readPromptHeaders(header), createNormalise(null)),
  readJson: (body, reading) => withTerminal(readBody(body, reading)),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, String.raw`"perf_metrics"\s*:\s*\{`, ...CHOICE_PATTERNS),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
