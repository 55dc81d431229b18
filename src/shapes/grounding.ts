/**
 * What Google bills for looking things up, from an answer's grounding. Up to Gemini 2.5 that is the grounded prompt,
 * since Gemini 3 the query; both are counted, and the prices of the model say which of them costs something. What the
 * queries say is not kept. Source: Gemini API, "Grounding with Google Search" and "Grounding with Google Maps".
 */
import type { JsonObject, JsonValue } from '../token-usage.ts';
import { type Grounding, UNGROUNDED } from './gemini-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';

/** Of a map's requests there is one class, so its unit is chosen here: one for the prompt, however many it took. */
const BILLED_BY_PROMPT = /^gemini-[12]\./;

/** A query is billed once, and an empty one is not. */
function countQueries(metadata: JsonObject): number {
  const queries = [...readArray(metadata, 'webSearchQueries'), ...readArray(metadata, 'imageSearchQueries')];
  return new Set(queries.filter((query) => typeof query === 'string' && query !== '')).size;
}

function hasChunk(metadata: JsonObject, kind: string): boolean {
  return readArray(metadata, 'groundingChunks').some((chunk) => isObject(chunk) && chunk[kind] !== undefined);
}

function mapUnits(queries: number, model: string | null): number {
  return BILLED_BY_PROMPT.test(model ?? '') ? 1 : Math.max(1, queries);
}

function readCandidate(candidate: JsonValue, model: string | null): Grounding {
  const metadata = readObject(candidate, 'groundingMetadata');
  if (metadata === null) return UNGROUNDED;
  const queries = countQueries(metadata);
  const hasWeb = hasChunk(metadata, 'web') || hasChunk(metadata, 'image');
  const hasMaps = hasChunk(metadata, 'maps');
  // Without a page among the sources, the queries were the map's.
  if (hasMaps && !hasWeb) return { ...UNGROUNDED, maps: mapUnits(queries, model) };
  if (!hasWeb && queries === 0) return UNGROUNDED;
  // Queries of an answer with both kinds of source are all counted as searches: they cost the same.
  const maps = hasMaps && BILLED_BY_PROMPT.test(model ?? '') ? 1 : null;
  return { searches: queries === 0 ? null : queries, prompts: 1, maps };
}

function larger(first: number | null, second: number | null): number | null {
  if (first === null || second === null) return first ?? second;
  return Math.max(first, second);
}

/** Grounding arrives on one element of a stream or grows on several, usage on all: the largest count seen is kept. */
export function mergeGrounding(seen: Grounding, now: Grounding): Grounding {
  return {
    searches: larger(seen.searches, now.searches),
    prompts: larger(seen.prompts, now.prompts),
    maps: larger(seen.maps, now.maps),
  };
}

/** `UNGROUNDED` itself when there is none. */
export function readGrounding(body: JsonObject, model: string | null): Grounding {
  return readArray(body, 'candidates').reduce<Grounding>((seen, candidate) => {
    const now = readCandidate(candidate, model);
    return now === UNGROUNDED ? seen : mergeGrounding(seen, now);
  }, UNGROUNDED);
}

/** Interactions count by tool: `[{type: "google_search", count: 2}]`. */
export function readToolCounts(usage: JsonObject, model: string | null): Grounding {
  const countOf = (type: string) =>
    readArray(usage, 'grounding_tool_count')
      .filter((item) => readName(item, 'type') === type)
      .reduce<number>((sum, item) => sum + (readCount(item, 'count') ?? 0), 0);
  const searches = countOf('google_search');
  const maps = countOf('google_maps');
  return {
    searches: searches > 0 ? searches : null,
    prompts: searches > 0 ? 1 : null,
    maps: maps > 0 ? mapUnits(maps, model) : null,
  };
}
