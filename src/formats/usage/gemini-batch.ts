/**
 * Google's batches: an operation fetched until it is done, which then holds its answers with their usage or names a
 * file of them. Source: Gemini API reference, Batch API, November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { GENERATE_NAMES, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { generateContent } from './generate-content.ts';
import { addLine } from './message-batch.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readName, readObject } from './read-json.ts';
import { NOTHING_REPORTED, withContext, withFlag, withLaterResult, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

/** Inlined as `{inlinedResponses: {inlinedResponses: [...]}}`; embeddings have a name of their own. */
function listResponses(response: JsonObject | null): readonly JsonObject[] {
  const output = readObject(response, 'output') ?? response;
  const holder = readObject(output, 'inlinedResponses') ?? readObject(output, 'inlinedEmbedContentResponses');
  return readArray(holder, 'inlinedResponses').flatMap((item) => {
    const answer = readObject(item, 'response');
    return answer === null ? [] : [answer];
  });
}

/** An embedding in a batch has a count instead of usage; 64-bit numbers are text. */
function readEmbeddingCount(response: JsonObject): number | null {
  const count = response['tokenCount'];
  if (typeof count === 'number') return count;
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : null;
}

function readAnswer(response: JsonObject, model: string | null): ReportedUsage {
  const count = readEmbeddingCount(response);
  const named = withContext(NOTHING_REPORTED, { model });
  if (count === null) return generateContent.readJson(response, named);
  return withUsage(named, { promptTokenCount: count }, (native) => normaliseGemini(native, GENERATE_NAMES, UNGROUNDED));
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  // A list of batches is no batch.
  if (!isObject(body) || readName(body, 'name') === null) return withTerminal(withErrorMember(reported, body));
  const model = readName(readObject(body, 'metadata'), 'model')?.replace(/^models\//, '') ?? null;
  const response = readObject(body, 'response');
  const responses = listResponses(response);
  const summed = responses.reduce((seen, item) => addLine(seen, readAnswer(item, model)), reported);
  const named = withErrorMember(summed.model === null ? withContext(summed, { model }) : summed, body);

  const hasFile = readName(response, 'responsesFile') !== null;
  const isDone = body['done'] === true;
  // The answers in a file are billed by the call that fetches the file.
  const known = withLaterResult(named, readName(body, 'name'), isDone && !hasFile);
  // A done batch with neither answers nor a file had too many answers to read.
  const isUnread = isDone && response !== null && responses.length === 0 && !hasFile;
  return withTerminal(isUnread ? withFlag(known, 'tap_limit') : known);
}

/** A line of the results: `{key, response}`, or the answer itself. */
function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const response = readObject(data, 'response') ?? data;
  const seen = addLine(reported, readAnswer(response, null));
  // The lines do not name their file; the request's path does.
  return seen === reported ? reported : withLaterResult(seen, seen.laterResult?.id ?? null, true);
}

export const geminiBatch: UsageFormat = {
  name: 'gemini-batch',
  readJson,
  mayMatter: () => true,
  readEvent,
  areLines: true,
  doneText: null,
};
