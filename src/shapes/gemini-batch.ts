/**
 * Google's batches: an operation that is answered at once and fetched until it is done. Then it holds all answers, each
 * with its usage, or names the file whose lines do. Source: Gemini API reference, Batch API, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { GENERATE_NAMES, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { generateContent } from './generate-content.ts';
import { isObject, readArray, readName, readObject } from './json-reading.ts';
import { addLine } from './message-batch.ts';
import { EMPTY_READING, withContext, withFlag, withLaterResult, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** Inlined as `{inlinedResponses: {inlinedResponses: [...]}}`; embeddings under a name of their own. */
function listResponses(response: JsonObject | null): readonly JsonObject[] {
  const output = readObject(response ?? undefined, 'output') ?? response ?? undefined;
  const holder = readObject(output, 'inlinedResponses') ?? readObject(output, 'inlinedEmbedContentResponses');
  return readArray(holder ?? undefined, 'inlinedResponses').flatMap((item) => {
    const answer = readObject(item, 'response');
    return answer === null ? [] : [answer];
  });
}

/** An embedding in a batch has a count and no usage; 64-bit numbers are written as text. */
function readEmbeddingCount(response: JsonObject): number | null {
  const count = response['tokenCount'];
  if (typeof count === 'number') return count;
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : null;
}

function readAnswer(response: JsonObject, model: string | null): UsageReading {
  const count = readEmbeddingCount(response);
  const named = withContext(EMPTY_READING, { model });
  if (count === null) return generateContent.readJson(response, named);
  return withUsage(named, { promptTokenCount: count }, (native) => normaliseGemini(native, GENERATE_NAMES, UNGROUNDED));
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  // A list of batches is no batch.
  if (!isObject(body) || readName(body, 'name') === null) return withTerminal(withErrorMember(reading, body));
  const model = readName(readObject(body, 'metadata') ?? undefined, 'model')?.replace(/^models\//, '') ?? null;
  const response = readObject(body, 'response');
  const responses = listResponses(response);
  const summed = responses.reduce((seen, item) => addLine(seen, readAnswer(item, model)), reading);
  const named = withErrorMember(summed.model === null ? withContext(summed, { model }) : summed, body);

  const hasFile = readName(response ?? undefined, 'responsesFile') !== null;
  const isDone = body['done'] === true;
  // What stands in a file is billed by the call that fetches the file.
  const known = withLaterResult(named, readName(body, 'name'), isDone && !hasFile);
  // Done, and neither answers nor a file: there were too many answers to read them.
  const isUnread = isDone && response !== null && responses.length === 0 && !hasFile;
  return withTerminal(isUnread ? withFlag(known, 'tap_limit') : known);
}

/** A line of the file of results: `{key, response}`, or the answer itself. */
function readEvent(_eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const response = readObject(data, 'response') ?? data;
  const seen = addLine(reading, readAnswer(response, null));
  // The lines do not say which file they are of: the request's path does.
  return seen === reading ? reading : withLaterResult(seen, seen.laterResult?.id ?? null, true);
}

export const geminiBatch: Shape = {
  name: 'gemini-batch',
  readJson,
  mayMatter: () => true,
  readEvent,
  areLines: true,
  doneText: null,
};
