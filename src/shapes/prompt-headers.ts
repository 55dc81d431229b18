/**
 * The size of the prompt, and how much of it came from the cache, as Fireworks writes them in the head of an answer
 * that is not a stream: often the only place where the cached part stands. Source: Fireworks, "Prompt caching".
 */
import type { JsonObject } from '../token-usage.ts';
import type { ReadHeader } from './shape.ts';

const CACHED_PROMPT_HEADER = 'fireworks-cached-prompt-tokens';
const PROMPT_HEADER = 'fireworks-prompt-tokens';

function readWhole(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** In the names of the usage object and of the metrics that a stream reports; undefined when there is nothing. */
export function readPromptHeaders(header: ReadHeader): JsonObject | undefined {
  const prompt = readWhole(header(PROMPT_HEADER));
  const cached = readWhole(header(CACHED_PROMPT_HEADER));
  if (prompt === null && cached === null) return undefined;
  return {
    ...(prompt === null ? {} : { prompt_tokens: prompt }),
    ...(cached === null ? {} : { perf_metrics: { [CACHED_PROMPT_HEADER]: cached } }),
  };
}
