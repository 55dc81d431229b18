/** Amazon Bedrock's Converse; the request's path names the model. Source: AWS API reference, TokenUsage, 2026-11. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import { createDraft, type Normalised, withContext, withPart, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

const LIFETIMES: readonly string[] = ['5m', '1h'];

function sumDetails(details: readonly JsonValue[]): number {
  return details.reduce<number>((sum, item) => sum + (readCount(item, 'inputTokens') ?? 0), 0);
}

export function normaliseTokenUsage(native: JsonObject): Normalised {
  const draft = createDraft();
  const reported = readCount(native, 'inputTokens');
  // The second name is that of Nova's own format.
  const cacheRead = readCount(native, 'cacheReadInputTokens') ?? readCount(native, 'cacheReadInputTokenCount');
  const details = readArray(native, 'cacheDetails');
  const cacheWrite =
    readCount(native, 'cacheWriteInputTokens') ??
    readCount(native, 'cacheWriteInputTokenCount') ??
    (details.length === 0 ? null : sumDetails(details));
  const output = readCount(native, 'outputTokens');
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);

  // Input is documented as uncached, but streams of some models include the cache. The total counts every token once
  // and tells which it is.
  const total = readCount(native, 'totalTokens');
  const uncachedSum = (reported ?? 0) + (output ?? 0) + cached;
  const isInclusive = reported !== null && cached > 0 && reported >= cached && total === reported + (output ?? 0);
  // Tokens of the total that belong to no part are billed at an unknown price.
  if (total !== null && total > uncachedSum) draft.doubt();
  else if (isInclusive || (total !== null && total !== uncachedSum)) draft.remark();
  draft.expectBoth(reported, output);
  draft.set('input', isInclusive ? reported - cached : reported);
  draft.set('cache_read', cacheRead);

  const oneHourDetails = details.filter((item) => readName(item, 'ttl') === '1h');
  const oneHour = sumDetails(oneHourDetails);
  if (cacheWrite !== null) {
    if (oneHourDetails.length > 0) draft.set('cache_creation_1h', oneHour);
    const other = sumDetails(details.filter((item) => !LIFETIMES.includes(readName(item, 'ttl') ?? '5m')));
    // An unknown lifetime has no known price.
    if (other > 0) draft.doubt();
    draft.set('cache_creation_5m', cacheWrite - oneHour - other);
  }
  draft.set('output', output);
  return draft.done(null);
}

function readBody(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return reported;
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'inputTokens');
  const usage = readObject(body, 'usage') ?? (counted === null ? undefined : { inputTokens: counted });
  return withContext(withUsage(reported, usage, normaliseTokenUsage), {
    serviceTier: readName(readObject(body, 'serviceTier'), 'type'),
    speed: readName(readObject(body, 'performanceConfig'), 'latency'),
  });
}

function readEvent(eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  if (eventType === 'messageStop') return withPart(reported, 0, true);
  const seen = readBody(data, reported);
  return eventType === 'metadata' ? withTerminal(seen) : seen;
}

export const converse: UsageFormat = {
  name: 'converse',
  readJson: (body, reported) => withTerminal(readBody(body, reported)),
  mayMatter: createEventTest(USAGE_PATTERN, '"stopReason"'),
  readEvent,
  doneText: null,
  hasLastEvent: true,
  hasUsageAtEnd: true,
};
