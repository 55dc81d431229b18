/**
 * Amazon Bedrock's Converse, whole and streamed (usage in the one `metadata` event at the end). The answer does not name
 * the model: that stands in the request's path. Source: AWS API reference, TokenUsage, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { createEventTest, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { createDraft, type Normalised, withContext, withPart, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

const LIFETIMES: readonly string[] = ['5m', '1h'];

function sumDetails(details: readonly JsonValue[]): number {
  return details.reduce<number>((sum, item) => sum + (readCount(item, 'inputTokens') ?? 0), 0);
}

export function normaliseTokenUsage(native: JsonObject): Normalised {
  const draft = createDraft();
  const reported = readCount(native, 'inputTokens');
  // The second names are those of Nova's own format.
  const cacheRead = readCount(native, 'cacheReadInputTokens') ?? readCount(native, 'cacheReadInputTokenCount');
  const details = readArray(native, 'cacheDetails');
  const cacheWrite =
    readCount(native, 'cacheWriteInputTokens') ??
    readCount(native, 'cacheWriteInputTokenCount') ??
    (details.length === 0 ? null : sumDetails(details));
  const output = readCount(native, 'outputTokens');
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);

  // Input is uncached by the documentation. Streams of some models report it with the cache inside; the total,
  // which has every token once, tells which it is.
  const total = readCount(native, 'totalTokens');
  const uncachedSum = (reported ?? 0) + (output ?? 0) + cached;
  const isInclusive = reported !== null && cached > 0 && reported >= cached && total === reported + (output ?? 0);
  if (isInclusive || (total !== null && total !== uncachedSum)) draft.remark();
  draft.set('input', isInclusive ? reported - cached : reported);
  draft.set('cache_read', cacheRead);

  const oneHourDetails = details.filter((item) => readName(item, 'ttl') === '1h');
  const oneHour = sumDetails(oneHourDetails);
  if (cacheWrite !== null) {
    if (oneHourDetails.length > 0) draft.set('cache_creation_1h', oneHour);
    const other = sumDetails(details.filter((item) => !LIFETIMES.includes(readName(item, 'ttl') ?? '5m')));
    // Of a lifetime that is not known nobody knows the price.
    if (other > 0) draft.doubt();
    draft.set('cache_creation_5m', cacheWrite - oneHour - other);
  }
  draft.set('output', output);
  return draft.done(null);
}

function readBody(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return reading;
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'inputTokens');
  const usage = readObject(body, 'usage') ?? (counted === null ? undefined : { inputTokens: counted });
  return withContext(withUsage(reading, usage, normaliseTokenUsage), {
    serviceTier: readName(readObject(body, 'serviceTier') ?? undefined, 'type'),
    speed: readName(readObject(body, 'performanceConfig') ?? undefined, 'latency'),
  });
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  if (eventType === 'messageStop') return withPart(reading, 0, true);
  const seen = readBody(data, reading);
  return eventType === 'metadata' ? withTerminal(seen) : seen;
}

export const converse: Shape = {
  name: 'converse',
  readJson: (body, reading) => withTerminal(readBody(body, reading)),
  mayMatter: createEventTest(USAGE_PATTERN, '"stopReason"'),
  readEvent,
  doneText: null,
  hasLastEvent: true,
  hasUsageAtEnd: true,
};
