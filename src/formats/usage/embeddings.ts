/** Embeddings and reranking: input tokens only, in OpenAI's, Google's and Amazon's forms. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readCount, readName } from './read-json.ts';
import { type Normalised, normaliseCount, withContext, withTerminal, withUsage } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** Best first. */
const COUNT_NAMES = ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'total_tokens', 'totalTokenCount'] as const;

function normalise(native: JsonObject): Normalised {
  const counts = [...COUNT_NAMES, 'inputTextTokenCount'].map((name) => readCount(native, name));
  return normaliseCount('input', counts.find((count) => count !== null) ?? null);
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return withTerminal(reported);
  const bare = readCount(body, 'inputTextTokenCount');
  const usageObject =
    body['usage'] ?? body['usageMetadata'] ?? (bare === null ? undefined : { inputTextTokenCount: bare });
  const context = { model: readName(body, 'model') ?? readName(body, 'modelVersion') };
  return withTerminal(withErrorMember(withContext(withUsage(reported, usageObject, normalise), context), body));
}

export const embeddings = createWholeAnswer('embeddings', readJson);
