/** Search and fetch calls, billed when they find something. Source: DeepSeek, "Web search and fetch", November 2026. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readName } from './read-json.ts';
import { normaliseCount, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';
import { createWholeAnswer } from './whole-answer.ts';

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
): UsageFormat {
  function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
    if (!isObject(body)) return withTerminal(reported);
    const failed = withErrorMember(reported, body);
    if (failed !== reported) return withTerminal(failed);
    const quantity = found(body) ? 1 : 0;
    const seen = withUsage(reported, { [counted]: quantity }, () => normaliseCount(counted, quantity));
    return withTerminal(seen);
  }
  return createWholeAnswer(name, readJson);
}

export const webSearch = createToolRequest('web-search', 'web_search_requests', foundResults);
export const webFetch = createToolRequest('web-fetch', 'web_fetch_requests', foundPage);
