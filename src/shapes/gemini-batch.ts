/**
 * Google's batches: an operation that is answered at once and fetched until it is done. Then it holds all answers, each
 * with its usage, or names the file that does. Source: Gemini API reference, Batch API, November 2026.
 */
import type { JsonObject, JsonValue, OtherUsage, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { GENERATE_NAMES, normaliseGemini } from './gemini-usage.ts';
import { readGrounding } from './grounding.ts';
import { isObject, readArray, readName, readObject } from './json-reading.ts';
import { type Normalised, withContext, withFlag, withLaterResult, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';
import { packUsages } from './usage-sum.ts';

/** Answers of one batch that are kept one by one in the native usage; later ones are summed all the same. */
const MAX_NATIVE_ENTRIES = 200;

/** Inlined as `{inlinedResponses: {inlinedResponses: [...]}}`; embeddings under a name of their own. */
function readResponses(body: JsonObject): readonly JsonValue[] {
  const response = readObject(body, 'response') ?? undefined;
  const output = readObject(response, 'output') ?? response;
  const holder = readObject(output, 'inlinedResponses') ?? readObject(output, 'inlinedEmbedContentResponses');
  return readArray(holder ?? undefined, 'inlinedResponses').flatMap((item) => readObject(item, 'response') ?? []);
}

/** An embedding in a batch has a count and no usage; 64-bit numbers are written as text. */
function usageOf(response: JsonValue): JsonObject | null {
  const metadata = readObject(response, 'usageMetadata');
  if (metadata !== null) return metadata;
  const count = isObject(response) ? response['tokenCount'] : undefined;
  if (typeof count === 'number') return { promptTokenCount: count };
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? { promptTokenCount: Number(count) } : null;
}

function readUsages(responses: readonly JsonValue[], model: string | null): readonly Normalised[] {
  return responses.flatMap((response) => {
    const usage = usageOf(response);
    if (usage === null || !isObject(response)) return [];
    return [
      normaliseGemini(usage, GENERATE_NAMES, readGrounding(response, readName(response, 'modelVersion') ?? model)),
    ];
  });
}

function normaliseBatch(usages: readonly Normalised[]): Normalised {
  const [first, ...rest] = packUsages(usages.map(({ classes }) => classes));
  const thoughts = usages.flatMap(({ reasoning }) => reasoning ?? []);
  const others = rest.map((classes): OtherUsage => ({ purpose: 'batch', model: null, classes }));
  return {
    classes: first ?? {},
    reasoning: thoughts.length === 0 ? null : thoughts.reduce((sum, count) => sum + count, 0),
    others,
    consistent: usages.every(({ consistent }) => consistent),
  };
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  // A list of batches is no batch.
  if (!isObject(body) || readName(body, 'name') === null) return withTerminal(withErrorMember(reading, body));
  const responses = readResponses(body);
  const [firstVersion] = responses.flatMap((response) => readName(response, 'modelVersion') ?? []);
  const asked = readName(readObject(body, 'metadata') ?? undefined, 'model')?.replace(/^models\//, '') ?? null;
  const model = firstVersion ?? asked;
  const named = withErrorMember(withContext(reading, { model }), body);

  const usages = readUsages(responses, model);
  const native = { responses: responses.slice(0, MAX_NATIVE_ENTRIES).flatMap((response) => usageOf(response) ?? []) };
  const seen = usages.length === 0 ? named : withUsage(named, native, () => normaliseBatch(usages));

  const isDone = body['done'] === true;
  const hasFile = readName(readObject(body, 'response') ?? undefined, 'responsesFile') !== null;
  // Done, and neither answers nor a file: the answers were too many to be read.
  const isUnread = isDone && responses.length === 0 && !hasFile && readObject(body, 'response') !== null;
  // What stands in a file is not read here, so that this call does not count as the one that billed it.
  const known = withLaterResult(seen, readName(body, 'name'), isDone && !hasFile);
  return withTerminal(isUnread ? withFlag(known, 'tap_limit') : known);
}

export const geminiBatch: Shape = {
  name: 'gemini-batch',
  readJson,
  mayMatter: () => false,
  readEvent: (_eventType, _data, reading) => reading,
  doneText: null,
};
