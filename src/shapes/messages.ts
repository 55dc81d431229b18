/**
 * Anthropic's Messages format, wherever it is served (also inside the frames of Bedrock's invoke stream). Its counts
 * are disjoint already. In streams `message_start` and each `message_delta` report running totals.
 * Source: Anthropic's API reference, Messages, `usage`, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { createDraft, type Draft, type Normalised, withContext, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

interface Counts {
  readonly input: number | null;
  readonly cacheRead: number | null;
  readonly write5m: number | null;
  readonly write1h: number | null;
  readonly output: number | null;
}

/** Cache writes by lifetime; without the split they are of the default, five minutes. */
function readCounts(usage: JsonObject, draft: Draft): Counts {
  const split = readObject(usage, 'cache_creation') ?? undefined;
  const fiveMinutes = readCount(split, 'ephemeral_5m_input_tokens');
  const oneHour = readCount(split, 'ephemeral_1h_input_tokens');
  const written = readCount(usage, 'cache_creation_input_tokens');
  const isSplit = fiveMinutes !== null || oneHour !== null;
  const splitSum = (fiveMinutes ?? 0) + (oneHour ?? 0);
  if (isSplit && written !== null && splitSum !== written) draft.remark();
  // Where the sum is larger than the split, the rest is of the default lifetime.
  const rest = isSplit && written !== null ? Math.max(0, written - splitSum) : 0;
  return {
    input: readCount(usage, 'input_tokens'),
    cacheRead: readCount(usage, 'cache_read_input_tokens'),
    write5m: isSplit ? (fiveMinutes ?? 0) + rest : written,
    write1h: oneHour,
    output: readCount(usage, 'output_tokens'),
  };
}

function add(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}

function normalise(native: JsonObject): Normalised {
  const draft = createDraft();
  let counts = readCounts(native, draft);
  for (const entry of readArray(native, 'iterations')) {
    if (!isObject(entry)) continue;
    const type = readName(entry, 'type');
    if (type === 'compaction') {
      // Ran on the same model, and is not in the totals.
      const more = readCounts(entry, draft);
      counts = {
        input: add(counts.input, more.input),
        cacheRead: add(counts.cacheRead, more.cacheRead),
        write5m: add(counts.write5m, more.write5m),
        write1h: add(counts.write1h, more.write1h),
        output: add(counts.output, more.output),
      };
    } else if (type === 'advisor_message') {
      // Another model's tokens, which no class of this call can hold: the bill is larger than the classes say.
      draft.remark();
    }
  }
  // A redeemed credit turns cache writes into reads on the bill.
  if (readName(readObject(native, 'fallback_credit') ?? undefined, 'status') === 'redeemed') draft.remark();

  draft.set('input', counts.input);
  draft.set('cache_read', counts.cacheRead);
  draft.set('cache_creation_5m', counts.write5m);
  draft.set('cache_creation_1h', counts.write1h);
  draft.set('output', counts.output);
  const tools = readObject(native, 'server_tool_use') ?? undefined;
  draft.set('web_search_requests', readCount(tools, 'web_search_requests'));
  draft.set('web_fetch_requests', readCount(tools, 'web_fetch_requests'));
  return draft.done(readCount(readObject(native, 'output_tokens_details') ?? undefined, 'thinking_tokens'));
}

/** `holder` has the usage: the message itself, or a `message_delta` event. */
function readHolder(holder: JsonObject, reading: UsageReading): UsageReading {
  const usage = readObject(holder, 'usage') ?? undefined;
  return withContext(withUsage(reading, usage, normalise), {
    model: readName(holder, 'model'),
    serviceTier: readName(usage, 'service_tier'),
    speed: readName(usage, 'speed'),
    inferenceGeo: readName(usage, 'inference_geo'),
  });
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'input_tokens');
  const seen =
    counted !== null && body['usage'] === undefined
      ? withUsage(reading, { input_tokens: counted }, normalise)
      : readHolder(body, reading);
  return withTerminal(withErrorMember(seen, body));
}

/** The event's own `type` decides: relays drop the `event:` lines. */
function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  switch (readName(data, 'type') ?? eventType) {
    case 'message_start':
      return readHolder(readObject(data, 'message') ?? {}, reading);
    case 'message_delta':
      return readHolder(data, reading);
    case 'message_stop':
      return withTerminal(reading);
    case 'error':
      return withErrorMember(reading, data);
    default:
      return reading;
  }
}

export const messages: Shape = {
  name: 'messages',
  readJson,
  mayMatter: createEventTest(String.raw`"type"\s*:\s*"message_`, ERROR_PATTERN, USAGE_PATTERN),
  readEvent,
  doneText: null,
};
