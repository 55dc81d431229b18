/** Fireworks' prompt size and cached part, from an answer's headers. Source: Fireworks, "Prompt caching". */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import type { ReadHeader } from './usage-format.ts';

const CACHED_PROMPT_HEADER = 'fireworks-cached-prompt-tokens';
const PROMPT_HEADER = 'fireworks-prompt-tokens';

function readWhole(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Uses the names of the usage object and of the stream's metrics; undefined when absent. */
export function readPromptHeaders(header: ReadHeader): JsonObject | undefined {
  const prompt = readWhole(header(PROMPT_HEADER));
  const cached = readWhole(header(CACHED_PROMPT_HEADER));
  if (prompt === null && cached === null) return undefined;
  return {
    ...(prompt === null ? {} : { prompt_tokens: prompt }),
    ...(cached === null ? {} : { perf_metrics: { [CACHED_PROMPT_HEADER]: cached } }),
  };
}
