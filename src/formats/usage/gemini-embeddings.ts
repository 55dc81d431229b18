/**
 * Google's embeddings. Newer models report input by modality, older ones nothing. Source: Gemini API reference,
 * EmbedContentResponse, November 2026; counts per embedding are Vertex AI's.
 */
import type { JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { GENERATE_NAMES, normaliseGemini, UNGROUNDED } from './gemini-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readObject } from './read-json.ts';
import { withTerminal, withUsage } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

function sumStatistics(embeddings: readonly JsonValue[]): number | null {
  let sum: number | null = null;
  for (const embedding of embeddings) {
    const count = readCount(readObject(embedding, 'statistics'), 'tokenCount');
    if (count === null) return null;
    sum = (sum ?? 0) + count;
  }
  return sum;
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return withTerminal(reported);
  const single = readObject(body, 'embedding');
  const counted = sumStatistics(single === null ? readArray(body, 'embeddings') : [single]);
  const usageObject = body['usageMetadata'] ?? (counted === null ? undefined : { promptTokenCount: counted });
  const seen = withUsage(reported, usageObject, (native) => normaliseGemini(native, GENERATE_NAMES, UNGROUNDED));
  return withTerminal(withErrorMember(seen, body));
}

export const geminiEmbeddings = createWholeAnswer('gemini-embeddings', readJson);
