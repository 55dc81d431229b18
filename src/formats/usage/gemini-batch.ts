/**
 * Google's batches: an operation fetched until it is done, which then holds its answers with their usage or names a
 * file of them. Source: Gemini API reference, Batch API, November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { listInlinedAnswers, readBatchOutput } from './gemini-batch-output.ts';
import { GENERATE_NAMES, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { generateContent } from './generate-content.ts';
import { addLine } from './message-batch.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readName, readObject } from './read-json.ts';
import {
  NOTHING_REPORTED,
  withContext,
  withFlag,
  withLaterResult,
  withMissingUsage,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

const SUCCEEDED = /_SUCCEEDED$/;

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
  const metadata = readObject(body, 'metadata');
  const model = readName(metadata, 'model')?.replace(/^models\//, '') ?? null;
  const output = readBatchOutput(body);
  const answers = (output === null ? [] : listInlinedAnswers(output)).map((answer) => readAnswer(answer, model));
  const summed = answers.reduce(addLine, reported);
  const named = withErrorMember(summed.model === null ? withContext(summed, { model }) : summed, body);

  const hasFile = output?.file != null;
  const isDone = body['done'] === true;
  // The answers in a file are billed by the call that fetches the file.
  const known = withLaterResult(named, readName(body, 'name'), isDone && !hasFile);
  // A done batch with neither answers nor a file had too many answers to read.
  const isEmpty = !hasFile && (output === null || output.items.length === 0);
  const isUnread = isDone && isEmpty && readObject(body, 'response') !== null;
  const isMissing =
    (isDone && isEmpty && SUCCEEDED.test(readName(metadata, 'state') ?? '')) ||
    answers.some(({ usage }) => usage === null);
  const told = isMissing ? withMissingUsage(known) : known;
  return withTerminal(isUnread ? withFlag(told, 'tap_limit') : told);
}

/** A line of the results: `{key, response}`, or the answer itself. */
function readEvent(_eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const response = readObject(data, 'response');
  const line = readAnswer(response ?? data, null);
  // Other files have lines too, and a request that failed has no response.
  if (line.usage === null && response === null) return reported;
  // The lines do not name their file; the request's path does.
  const seen = withLaterResult(addLine(reported, line), reported.laterResult?.id ?? null, true);
  return line.usage === null ? withMissingUsage(seen) : seen;
}

export const geminiBatch: UsageFormat = {
  name: 'gemini-batch',
  readJson,
  mayMatter: () => true,
  readEvent,
  areLines: true,
  doneText: null,
};
