/**
 * Google's generateContent format. In streams (SSE, or one JSON array) every element reports running totals; there is
 * no ending but the last element's finish reason. Source: Gemini API reference, GenerateContentResponse, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN } from './event-test.ts';
import { GENERATE_NAMES, type Grounding, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { mergeGrounding, readGrounding } from './grounding.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { isAnswered, type Normalised, withContext, withPart, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** The usage of one turn of a live session, where the answer is called a response. */
export function normaliseLive(native: JsonObject, webSearches: number | null): Normalised {
  const prompts = webSearches === null ? null : 1;
  return normaliseGemini(native, GENERATE_NAMES, { searches: webSearches, prompts, maps: null });
}

/** The tier that served stands in a header too, and the body's word outranks it. */
function readHead(header: (name: string) => string | null, reading: UsageReading): UsageReading {
  return withContext(reading, { serviceTier: header('x-gemini-service-tier') });
}

function groundingSoFar({ usage }: UsageReading): Grounding {
  const classes = usage?.classes ?? {};
  return {
    searches: classes.web_search_requests ?? null,
    prompts: classes.grounded_prompts ?? null,
    maps: classes.maps_requests ?? null,
  };
}

function readElement(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return reading;
  const metadata = readObject(body, 'usageMetadata') ?? undefined;
  const model = readName(body, 'modelVersion');
  const found = readGrounding(body, model ?? reading.model);
  const grounding = mergeGrounding(groundingSoFar(reading), found);
  const normalise = (native: JsonObject) => normaliseGemini(native, GENERATE_NAMES, grounding);
  // Grounding may come on an element without usage: then the usage so far is read again, which may be none.
  const reported = metadata ?? (found === UNGROUNDED ? undefined : reading.usage?.native);
  const seen =
    reported === undefined && found !== UNGROUNDED
      ? { ...reading, usage: { classes: normalise({}).classes, reasoning: null, native: {} } }
      : withUsage(reading, reported, normalise);
  const serviceTier = readName(metadata, 'serviceTier') ?? readName(metadata, 'trafficType');
  return withErrorMember(withContext(seen, { model, serviceTier }), body);
}

function isBlocked(body: JsonValue): boolean {
  return readName(readObject(body, 'promptFeedback') ?? undefined, 'blockReason') !== null;
}

function readCandidates(body: JsonValue, reading: UsageReading): UsageReading {
  return readArray(body, 'candidates').reduce<UsageReading>(
    (seen, candidate) =>
      withPart(seen, readCount(candidate, 'index') ?? 0, readName(candidate, 'finishReason') !== null),
    reading,
  );
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  const elements = Array.isArray(body) ? body : [body];
  return withTerminal(elements.reduce<UsageReading>((seen, element) => readElement(element, seen), reading));
}

function readEvent(_eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  const seen = readCandidates(data, readElement(data, reading));
  return isAnswered(seen) || isBlocked(data) ? withTerminal(seen) : seen;
}

export const generateContent: Shape = {
  name: 'generate-content',
  readHead,
  readJson,
  mayMatter: createEventTest(
    '"usageMetadata"',
    '"finishReason"',
    '"blockReason"',
    '"groundingMetadata"',
    ERROR_PATTERN,
  ),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
