/**
 * What Google bills for search and maps. Up to Gemini 2.5 that is the grounded prompt, since Gemini 3 the query; both
 * are counted and the price decides. Queries' text is not kept. Source: Gemini API, "Grounding with Google Search" and
 * "Grounding with Google Maps".
 */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { type Grounding, UNGROUNDED } from './gemini-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';

/** Map requests have one class, so the unit is chosen here: these models are billed by prompt. */
const BILLED_BY_PROMPT = /^gemini-[12]\./;

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

/** Of a candidate, or of a live session's content. Returns `UNGROUNDED` itself when there is none. */
export function readGroundingOf(holder: JsonValue, model: string | null): Grounding {
  const metadata = readObject(holder, 'groundingMetadata');
  if (metadata === null) return UNGROUNDED;
  const queries = countQueries(metadata);
  const hasWeb = hasChunk(metadata, 'web') || hasChunk(metadata, 'image');
  const hasMaps = hasChunk(metadata, 'maps');
  // Queries belong to the map when no source is a web page.
  if (hasMaps && !hasWeb) return { ...UNGROUNDED, maps: mapUnits(queries, model) };
  if (!hasWeb && queries === 0) return UNGROUNDED;
  // With both kinds of source, all queries count as searches: the price is equal.
  const maps = hasMaps && BILLED_BY_PROMPT.test(model ?? '') ? 1 : null;
  return { searches: queries === 0 ? null : queries, prompts: 1, maps };
}

function larger(first: number | null, second: number | null): number | null {
  if (first === null || second === null) return first ?? second;
  return Math.max(first, second);
}

/** Grounding may grow over several stream elements: the largest count is kept. */
export function mergeGrounding(seen: Grounding, now: Grounding): Grounding {
  return {
    searches: larger(seen.searches, now.searches),
    prompts: larger(seen.prompts, now.prompts),
    maps: larger(seen.maps, now.maps),
  };
}

/** Returns `UNGROUNDED` itself when there is none. */
export function readGrounding(body: JsonObject, model: string | null): Grounding {
  return readArray(body, 'candidates').reduce<Grounding>((seen, candidate) => {
    const now = readGroundingOf(candidate, model);
    return now === UNGROUNDED ? seen : mergeGrounding(seen, now);
  }, UNGROUNDED);
}

/** Interactions count by tool: `[{type: "google_search", count: 2}]`. */
export function readToolCounts(usage: JsonObject, model: string | null): Grounding {
  let searches = 0;
  let maps = 0;
  let others = 0;
  for (const item of readArray(usage, 'grounding_tool_count')) {
    const count = readCount(item, 'count') ?? 0;
    const type = readName(item, 'type');
    if (type === 'google_search') searches += count;
    else if (type === 'google_maps') maps += count;
    else others += count;
  }
  return {
    searches: searches > 0 ? searches : null,
    prompts: searches > 0 ? 1 : null,
    maps: maps > 0 ? mapUnits(maps, model) : null,
    ...(others > 0 ? { hasUnknownTool: true } : {}),
  };
}
