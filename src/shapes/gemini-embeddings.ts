/**
 * Google's embeddings. Newer models report their input by modality; older ones report nothing, and nothing is guessed.
 * Source: Gemini API reference, EmbedContentResponse, November 2026; counts per embedding are Vertex AI's.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { GENERATE_NAMES, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { isObject, readArray, readCount, readObject } from './json-reading.ts';
import { withTerminal, withUsage } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** Null unless each of the embeddings has its count. */
function sumStatistics(embeddings: readonly JsonValue[]): number | null {
  let sum: number | null = null;
  for (const embedding of embeddings) {
    const count = readCount(readObject(embedding, 'statistics') ?? undefined, 'tokenCount');
    if (count === null) return null;
    sum = (sum ?? 0) + count;
  }
  return sum;
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  const single = readObject(body, 'embedding');
  const counted = sumStatistics(single === null ? readArray(body, 'embeddings') : [single]);
  const reported = body['usageMetadata'] ?? (counted === null ? undefined : { promptTokenCount: counted });
  const seen = withUsage(reading, reported, (native) => normaliseGemini(native, GENERATE_NAMES, UNGROUNDED));
  return withTerminal(withErrorMember(seen, body));
}

export const geminiEmbeddings = createWholeAnswer('gemini-embeddings', readJson);
