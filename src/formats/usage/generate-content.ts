/**
 * Google's generateContent format. Stream elements (SSE or one JSON array) report running totals; only a finish reason
 * marks the end. Source: Gemini API reference, GenerateContentResponse, November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN } from './event-test.ts';
import { GENERATE_NAMES, type Grounding, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { mergeGrounding, readGrounding } from './grounding.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import { isAnswered, type Normalised, withContext, withPart, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

/** One turn of a live session, where the answer is called a response. */
export function normaliseLive(native: JsonObject, grounding: Grounding): Normalised {
  return normaliseGemini(native, GENERATE_NAMES, grounding);
}

/** The body's tier outranks the header's. */
function readHead(header: (name: string) => string | null, reported: ReportedUsage): ReportedUsage {
  return withContext(reported, { serviceTier: header('x-gemini-service-tier') });
}

function groundingSoFar({ usage }: ReportedUsage): Grounding {
  const classes = usage?.classes ?? {};
  return {
    searches: classes.web_search_requests ?? null,
    prompts: classes.grounded_prompts ?? null,
    maps: classes.maps_requests ?? null,
  };
}

function readElement(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return reported;
  const metadata = readObject(body, 'usageMetadata');
  const model = readName(body, 'modelVersion');
  const found = readGrounding(body, model ?? reported.model);
  const grounding = mergeGrounding(groundingSoFar(reported), found);
  const normalise = (native: JsonObject) => normaliseGemini(native, GENERATE_NAMES, grounding, model ?? reported.model);
  // Grounding may come without usage; then the usage so far is read again.
  const usageObject = metadata ?? (found === UNGROUNDED ? undefined : reported.usage?.native);
  const seen =
    usageObject === undefined && found !== UNGROUNDED
      ? { ...reported, usage: { classes: normalise({}).classes, reasoning: null, native: {} } }
      : withUsage(reported, usageObject, normalise);
  const serviceTier = readName(metadata, 'serviceTier') ?? readName(metadata, 'trafficType');
  const answerId = readName(body, 'responseId');
  const named = answerId === null || answerId === seen.answerId ? seen : { ...seen, answerId };
  return withErrorMember(withContext(named, { model, serviceTier }), body);
}

function isBlocked(body: JsonValue): boolean {
  return readName(readObject(body, 'promptFeedback'), 'blockReason') !== null;
}

function readCandidates(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  return readArray(body, 'candidates').reduce<ReportedUsage>(
    (seen, candidate) =>
      withPart(seen, readCount(candidate, 'index') ?? 0, readName(candidate, 'finishReason') !== null),
    reported,
  );
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  const elements = Array.isArray(body) ? body : [body];
  return withTerminal(elements.reduce<ReportedUsage>((seen, element) => readElement(element, seen), reported));
}

function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  const seen = readCandidates(data, readElement(data, reported));
  return isAnswered(seen) || isBlocked(data) ? withTerminal(seen) : seen;
}

export const generateContent: UsageFormat = {
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
