/**
 * Anthropic's Messages format, wherever it is served (also inside the frames of Bedrock's invoke stream). Its counts
 * are disjoint already. In streams `message_start` and each `message_delta` report running totals.
 * Source: Anthropic's API reference, Messages, `usage`, November 2026.
 */
import type { JsonObject, JsonValue, OtherUsage, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import {
  createDraft,
  type Draft,
  type Normalised,
  withContext,
  withFinalUsage,
  withIncomplete,
  withPart,
  withTerminal,
  withUsage,
} from './reading.ts';
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

/** What one prompt used, in its own draft. */
function draftCounts(usage: JsonObject): Draft {
  const draft = createDraft();
  const counts = readCounts(usage, draft);
  draft.set('input', counts.input);
  draft.set('cache_read', counts.cacheRead);
  draft.set('cache_creation_5m', counts.write5m);
  draft.set('cache_creation_1h', counts.write1h);
  draft.set('output', counts.output);
  return draft;
}

interface Iterations {
  readonly others: readonly OtherUsage[];
  readonly consistent: boolean;
  readonly isIncomplete: boolean;
}

/** In the totals, as far as they are of the model that served. */
const TURN_TYPES: readonly string[] = ['message', 'fallback_message'];
/** Apart from the totals. */
const OTHER_TYPES: readonly string[] = ['compaction', 'advisor_message'];

const TOTALS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
] as const satisfies readonly string[];

/**
 * The parts that an answer was made of. Compactions (same model, a prompt of their own) and advisors (another model)
 * are not in the totals; the turns of the model that served are, and must add up to them.
 */
function readIterations(native: JsonObject): Iterations {
  const entries = readArray(native, 'iterations').filter(isObject);
  const others: OtherUsage[] = [];
  let consistent = true;
  for (const entry of entries) {
    const type = readName(entry, 'type') ?? '';
    if (!OTHER_TYPES.includes(type)) continue;
    const purpose = type === 'compaction' ? type : 'advisor';
    const part = draftCounts(entry).done(null);
    if (!part.consistent) consistent = false;
    others.push({ purpose, model: type === 'compaction' ? null : readName(entry, 'model'), classes: part.classes });
  }
  const fallback = entries.find((entry) => readName(entry, 'type') === 'fallback_message');
  const serving = readName(fallback, 'model');
  const turns = entries.filter((entry) => TURN_TYPES.includes(readName(entry, 'type') ?? ''));
  const isServing = (turn: JsonObject) => serving === null || (readName(turn, 'model') ?? serving) === serving;
  // Declined before its first token, an attempt costs nothing. After it, nobody says what it costs.
  const hasDeclined = turns.some((turn) => !isServing(turn) && (readCount(turn, 'output_tokens') ?? 0) > 0);
  // Nor is it known of a part of another kind whether the totals have it.
  const known = [...TURN_TYPES, ...OTHER_TYPES];
  const isUnknown = (entry: JsonObject) => !known.includes(readName(entry, 'type') ?? '');
  const isIncomplete =
    hasDeclined ||
    entries.some((entry) => isUnknown(entry) && TOTALS.some((name) => (readCount(entry, name) ?? 0) > 0));
  const served = turns.filter(isServing);
  const addsUp = TOTALS.every((name) => {
    const total = readCount(native, name);
    return total === null || served.reduce((sum, turn) => sum + (readCount(turn, name) ?? 0), 0) === total;
  });
  return { others, consistent: consistent && !isIncomplete && (served.length === 0 || addsUp), isIncomplete };
}

/** `executions` is what was counted in the answer's blocks so far; 0 is known to be free, null is none seen. */
function normaliseWith(native: JsonObject, executions: number | null): Normalised {
  const draft = draftCounts(native);
  const { others, consistent, isIncomplete } = readIterations(native);
  if (!consistent) draft.remark();
  // A redeemed credit turns cache writes into reads on the bill.
  const credit = readObject(native, 'fallback_credit') ?? undefined;
  const status = readName(readObject(credit, 'status') ?? undefined, 'type') ?? readName(credit, 'status');
  const isRedeemed = status === 'redeemed';
  if (isRedeemed) draft.remark();

  const tools = readObject(native, 'server_tool_use') ?? undefined;
  draft.set('web_search_requests', readCount(tools, 'web_search_requests'));
  draft.set('web_fetch_requests', readCount(tools, 'web_fetch_requests'));
  const reported = readCount(tools, 'code_execution_requests') ?? 0;
  draft.set('code_execution_requests', reported === 0 || executions === 0 ? executions : reported);
  const details = readObject(native, 'output_tokens_details') ?? undefined;
  return {
    ...draft.done(readCount(details, 'thinking_tokens')),
    others,
    isIncomplete: isIncomplete || isRedeemed,
  };
}

export function normaliseMessage(native: JsonObject): Normalised {
  return normaliseWith(native, null);
}

const EXECUTIONS: readonly string[] = ['code_execution', 'bash_code_execution', 'text_editor_code_execution'];
const WEB_TOOLS: readonly string[] = ['web_search', 'web_fetch'];

/**
 * Runs of code are billed by the container's time and are not in the usage, so they are counted in the content. They
 * are free in a call that has a web tool of the versions that code can call, which is seen by code calling it.
 * Source: Anthropic, Pricing, "Code execution tool", November 2026.
 */
function withBlocks(reading: UsageReading, blocks: readonly JsonValue[]): UsageReading {
  const { usage } = reading;
  if (usage === null) return reading;
  const isReported = readCount(readObject(usage.native, 'server_tool_use') ?? undefined, 'code_execution_requests');
  const before = usage.classes.code_execution_requests ?? null;
  let executions = before;
  for (const block of blocks) {
    if (readName(block, 'type') !== 'server_tool_use') continue;
    const name = readName(block, 'name') ?? '';
    const caller = readName(readObject(block, 'caller') ?? undefined, 'type') ?? '';
    if (WEB_TOOLS.includes(name) && caller.startsWith('code_execution')) executions = 0;
    else if (EXECUTIONS.includes(name) && executions !== 0 && !isReported) executions = (executions ?? 0) + 1;
  }
  if (executions === before || executions === null) return reading;
  return { ...reading, usage: { ...usage, classes: { ...usage.classes, code_execution_requests: executions } } };
}

/** `holder` has the usage: the message itself, or a `message_delta` event. */
function readHolder(holder: JsonObject, reading: UsageReading): UsageReading {
  const usage = readObject(holder, 'usage') ?? undefined;
  const executions = reading.usage?.classes.code_execution_requests ?? null;
  const seen = withContext(
    withUsage(reading, usage, (native) => normaliseWith(native, executions)),
    {
      model: readName(holder, 'model'),
      serviceTier: readName(usage, 'service_tier'),
      speed: readName(usage, 'speed'),
      inferenceGeo: readName(usage, 'inference_geo'),
    },
  );
  return withBlocks(seen, readArray(holder, 'content'));
}

/** `hasContent` false: the answer has no block, or none with anything in it. */
function withRefusal(reading: UsageReading, holder: JsonObject | null, hasContent: boolean): UsageReading {
  const { usage } = reading;
  if (usage === null || hasContent || readName(holder ?? undefined, 'stop_reason') !== 'refusal') return reading;
  return { ...reading, usage: { ...usage, isRefused: true } };
}

/** A whole message. */
export function readMessage(message: JsonObject, reading: UsageReading): UsageReading {
  return withRefusal(readHolder(message, reading), message, readArray(message, 'content').length > 0);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'input_tokens');
  const seen =
    counted !== null && body['usage'] === undefined
      ? withUsage(reading, { input_tokens: counted }, normaliseMessage)
      : readMessage(body, reading);
  return withTerminal(withErrorMember(seen, body));
}

/** The opening of a stream. The output that it reports is a token or so in place of what is to come. */
export function readOpening(data: JsonObject, seen: UsageReading, before: UsageReading): UsageReading {
  return withPart(withReportedOutput(data, seen, before), 0, false);
}

/** Only a `message_delta` reports output. */
export function withReportedOutput(data: JsonObject, seen: UsageReading, before: UsageReading): UsageReading {
  const { usage } = seen;
  const isReported = readCount(readObject(data, 'usage') ?? undefined, 'output_tokens') !== null;
  if (usage === null || isReported || before.usage?.classes.output !== undefined) return seen;
  const { output: _, ...classes } = usage.classes;
  return { ...seen, usage: { ...usage, classes, reasoning: null } };
}

export function readStopReason(data: JsonObject, reading: UsageReading): UsageReading {
  const isStopped = readName(readObject(data, 'delta') ?? undefined, 'stop_reason') !== null;
  return isStopped ? withPart(reading, 0, true) : reading;
}

/** A whole stream that never reported its output has one nonetheless. */
export function withKnownOutput(reading: UsageReading): UsageReading {
  return reading.usage?.classes.output === undefined ? withIncomplete(reading) : reading;
}

/** The event's own `type` decides: relays drop the `event:` lines. */
function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading, sawContent = false): UsageReading {
  if (!isObject(data)) return reading;
  switch (readName(data, 'type') ?? eventType) {
    case 'message_start':
      return readOpening(data, readHolder(readObject(data, 'message') ?? {}, reading), reading);
    case 'message_delta': {
      const seen = withRefusal(readHolder(data, reading), readObject(data, 'delta'), sawContent);
      return withFinalUsage(reading, readStopReason(data, withReportedOutput(data, seen, reading)));
    }
    case 'content_block_start':
      return withBlocks(reading, [data['content_block'] ?? null]);
    case 'message_stop':
      return withTerminal(withKnownOutput(reading));
    case 'error':
      return withErrorMember(reading, data);
    default:
      return reading;
  }
}

export const messages: Shape = {
  name: 'messages',
  readJson,
  mayMatter: createEventTest(String.raw`"type"\s*:\s*"message_`, '"server_tool_use"', ERROR_PATTERN, USAGE_PATTERN),
  readEvent,
  doneText: null,
  hasLastEvent: true,
};
