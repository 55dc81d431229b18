/**
 * Anthropic's Messages format, wherever it is served (also inside the frames of Bedrock's invoke stream). Its counts
 * are disjoint already. In streams `message_start` and each `message_delta` report running totals.
 * Source: Anthropic's API reference, Messages, `usage`, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { draftCounts, isFallbackBlock, leaveAttempt, noteAttempts, readParts, readServing } from './message-parts.ts';
import {
  createUsage,
  type Normalised,
  withContext,
  withFinalUsage,
  withIncomplete,
  withPart,
  withTerminal,
  withUsage,
} from './reading.ts';
import type { Shape } from './shape.ts';

/** `executions` is what was counted in the answer's blocks so far; 0 is known to be free, null is none seen. */
function normaliseWith(native: JsonObject, executions: number | null): Normalised {
  const { others, consistent, isIncomplete, isFallback, served } = readParts(native);
  const draft = draftCounts({ ...served, ...native });
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
  const counted = draft.done(readCount(details, 'thinking_tokens'));
  return {
    ...counted,
    others,
    isIncomplete: counted.isIncomplete === true || isIncomplete || isRedeemed,
    hasUnknownWrites: isFallback || isRedeemed,
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
      model: readServing(usage) ?? readName(holder, 'model'),
      serviceTier: readName(usage, 'service_tier'),
      speed: readName(usage, 'speed'),
      inferenceGeo: readName(usage, 'inference_geo'),
    },
  );
  return withBlocks(seen, readArray(holder, 'content'));
}

/** The model behind the block serves from here on; what was reported so far is the other one's. */
function withFallback(reading: UsageReading, data: JsonObject, block: JsonObject): UsageReading {
  const to = readName(readObject(block, 'to') ?? undefined, 'model');
  if (to === null) return reading;
  const from = readName(readObject(block, 'from') ?? undefined, 'model') ?? reading.model;
  const native = leaveAttempt(reading.usage?.native ?? {}, {
    from,
    isReported: reading.model !== to,
    index: readCount(data, 'index'),
  });
  const { classes, reasoning, ...more } = normaliseWith(native, reading.usage?.classes.code_execution_requests ?? null);
  // Its output comes with the next report, as in any stream.
  const { output: _, ...known } = classes;
  return withContext({ ...reading, usage: createUsage({ ...more, classes: known, reasoning }, native) }, { model: to });
}

/** `hasContent` false: the answer has no block, or none with anything in it. */
function withRefusal(reading: UsageReading, holder: JsonObject | null, hasContent: boolean): UsageReading {
  const { usage } = reading;
  if (usage === null || hasContent || readName(holder ?? undefined, 'stop_reason') !== 'refusal') return reading;
  return { ...reading, usage: { ...usage, isRefused: true } };
}

/** A whole message. */
export function readMessage(message: JsonObject, reading: UsageReading): UsageReading {
  const content = readArray(message, 'content');
  const usage = readObject(message, 'usage');
  const noted = usage === null ? message : { ...message, usage: noteAttempts(usage, content) };
  const hasContent = content.some((block) => !isFallbackBlock(block));
  return withRefusal(readHolder(noted, reading), message, hasContent);
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
    case 'content_block_start': {
      const block = data['content_block'] ?? null;
      return isObject(block) && isFallbackBlock(block)
        ? withFallback(reading, data, block)
        : withBlocks(reading, [block]);
    }
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
  mayMatter: createEventTest(
    String.raw`"type"\s*:\s*"(?:message_|fallback")`,
    '"server_tool_use"',
    ERROR_PATTERN,
    USAGE_PATTERN,
  ),
  readEvent,
  doneText: null,
  hasLastEvent: true,
};
