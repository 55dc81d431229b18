/**
 * Embeddings and reranking: input tokens and nothing else. OpenAI's format, Google's `usageMetadata`, and the bare
 * counts of Amazon's models.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readCount, readName } from './json-reading.ts';
import { type Normalised, normaliseCount, withContext, withTerminal, withUsage } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** Best first. */
const COUNT_NAMES = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'total_tokens', 'totalTokenCount'] as const;

function normalise(native: JsonObject): Normalised {
  const counts = [...COUNT_NAMES, 'inputTextTokenCount'].map((name) => readCount(native, name));
  return normaliseCount('input', counts.find((count) => count !== null) ?? null);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  const bare = readCount(body, 'inputTextTokenCount');
  const reported =
    body['usage'] ?? body['usageMetadata'] ?? (bare === null ? undefined : { inputTextTokenCount: bare });
  const context = { model: readName(body, 'model') ?? readName(body, 'modelVersion') };
  return withTerminal(withErrorMember(withContext(withUsage(reading, reported, normalise), context), body));
}

export const embeddings = createWholeAnswer('embeddings', readJson);
