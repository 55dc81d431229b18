/**
 * Searching and fetching as calls of their own, billed by the request that found something: an empty result and an
 * error cost nothing. Source: DeepSeek API, "Web search and fetch", November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readArray, readName } from './json-reading.ts';
import { normaliseCount, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** Where the text of a fetched page may stand. */
const PAGE_NAMES: readonly string[] = ['content', 'markdown', 'text'];

function foundResults(body: JsonObject): boolean {
  return readArray(body, 'results').length > 0;
}

function foundPage(body: JsonObject): boolean {
  const holders = [body, body['result'], body['data']];
  return holders.some((holder) => PAGE_NAMES.some((name) => readName(holder, name) !== null));
}

function createToolRequest(
  name: 'web-search' | 'web-fetch',
  counted: 'web_search_requests' | 'web_fetch_requests',
  found: (body: JsonObject) => boolean,
): Shape {
  function readJson(body: JsonValue, reading: UsageReading): UsageReading {
    if (!isObject(body)) return withTerminal(reading);
    const failed = withErrorMember(reading, body);
    if (failed !== reading) return withTerminal(failed);
    const quantity = found(body) ? 1 : 0;
    const seen = withUsage(reading, { [counted]: quantity }, () => normaliseCount(counted, quantity));
    return withTerminal(seen);
  }
  return createWholeAnswer(name, readJson);
}

export const webSearch = createToolRequest('web-search', 'web_search_requests', foundResults);
export const webFetch = createToolRequest('web-fetch', 'web_fetch_requests', foundPage);
