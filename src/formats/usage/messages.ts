/**
 * Anthropic's Messages format, also inside Bedrock's invoke stream. Counts are disjoint; `message_start` and
 * `message_delta` report running totals. Source: Anthropic's API reference, Messages, `usage`, November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { draftCounts, isFallbackBlock, leaveAttempt, noteAttempts, readParts, readServing } from './message-parts.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import {
  createUsage,
  type Normalised,
  normaliseCount,
  withContext,
  withFinalUsage,
  withIncomplete,
  withPart,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import { readServerTools } from './server-tools.ts';
import type { UsageFormat } from './usage-format.ts';

/** `executions` counts the answer's blocks so far; 0 is known to be free, null means none seen. */
function normaliseWith(native: JsonObject, executions: number | null): Normalised {
  const { others, consistent, isIncomplete, isFallback, served } = readParts(native);
  const draft = draftCounts({ ...served, ...native });
  if (!consistent) draft.remark();
  // A redeemed credit bills cache writes as reads.
  const credit = readObject(native, 'fallback_credit');
  const status = readName(readObject(credit, 'status'), 'type') ?? readName(credit, 'status');
  const isRedeemed = status === 'redeemed';
  if (isRedeemed) draft.remark();

  const tools = readServerTools(native);
  draft.set('web_search_requests', tools.webSearches);
  draft.set('web_fetch_requests', tools.webFetches);
  const reported = tools.codeExecutions ?? 0;
  draft.set('code_execution_requests', reported === 0 || executions === 0 ? executions : reported);
  const details = readObject(native, 'output_tokens_details');
  const counted = draft.done(readCount(details, 'thinking_tokens'));
  return {
    ...counted,
    others,
    isIncomplete: counted.isIncomplete === true || isIncomplete || isRedeemed || tools.hasUnknown,
    hasUnknownWrites: isFallback || isRedeemed,
  };
}

export function normaliseMessage(native: JsonObject): Normalised {
  return normaliseWith(native, null);
}

const EXECUTIONS: readonly string[] = ['code_execution', 'bash_code_execution', 'text_editor_code_execution'];
const WEB_TOOLS: readonly string[] = ['web_search', 'web_fetch'];

/**
 * Code runs are billed by container time and not in the usage, so the content is counted. They are free in a call with
 * a web tool that code can call, which shows as code calling it. Source: Anthropic, Pricing, "Code execution tool",
 * November 2026.
 */
function withBlocks(reported: ReportedUsage, blocks: readonly JsonValue[]): ReportedUsage {
  const { usage } = reported;
  if (usage === null) return reported;
  const isReported = readServerTools(usage.native).codeExecutions;
  const before = usage.classes.code_execution_requests ?? null;
  let executions = before;
  for (const block of blocks) {
    if (readName(block, 'type') !== 'server_tool_use') continue;
    const name = readName(block, 'name') ?? '';
    const caller = readName(readObject(block, 'caller'), 'type') ?? '';
    if (WEB_TOOLS.includes(name) && caller.startsWith('code_execution')) executions = 0;
    else if (EXECUTIONS.includes(name) && executions !== 0 && !isReported) executions = (executions ?? 0) + 1;
  }
  if (executions === before || executions === null) return reported;
  return { ...reported, usage: { ...usage, classes: { ...usage.classes, code_execution_requests: executions } } };
}

/** `holder` has the usage: the message, or a `message_delta` event. */
function readHolder(holder: JsonObject, reported: ReportedUsage): ReportedUsage {
  const usage = readObject(holder, 'usage');
  const executions = reported.usage?.classes.code_execution_requests ?? null;
  const seen = withContext(
    withUsage(reported, usage, (native) => normaliseWith(native, executions)),
    {
      model: readServing(usage) ?? readName(holder, 'model'),
      serviceTier: readName(usage, 'service_tier'),
      speed: readName(usage, 'speed'),
      inferenceGeo: readName(usage, 'inference_geo'),
    },
  );
  return withBlocks(seen, readArray(holder, 'content'));
}

/** The model behind this block serves from here on; what was reported belongs to the one before. */
function withFallback(reported: ReportedUsage, data: JsonObject, block: JsonObject): ReportedUsage {
  const to = readName(readObject(block, 'to'), 'model');
  if (to === null) return reported;
  const from = readName(readObject(block, 'from'), 'model') ?? reported.model;
  const native = leaveAttempt(reported.usage?.native ?? {}, {
    from,
    isReported: reported.model !== to,
    index: readCount(data, 'index'),
  });
  const { classes, reasoning, ...more } = normaliseWith(
    native,
    reported.usage?.classes.code_execution_requests ?? null,
  );
  // Its output comes with the next report.
  const { output: _, ...known } = classes;
  return withContext(
    { ...reported, usage: createUsage({ ...more, classes: known, reasoning }, native) },
    { model: to },
  );
}

/** `hasContent` false: there is no block with content. */
function withRefusal(reported: ReportedUsage, holder: JsonObject | null, hasContent: boolean): ReportedUsage {
  const { usage } = reported;
  if (usage === null || hasContent || readName(holder, 'stop_reason') !== 'refusal') return reported;
  return { ...reported, usage: { ...usage, isRefused: true } };
}

export function readMessage(message: JsonObject, reported: ReportedUsage): ReportedUsage {
  const content = readArray(message, 'content');
  const usage = readObject(message, 'usage');
  const noted = usage === null ? message : { ...message, usage: noteAttempts(usage, content) };
  const hasContent = content.some((block) => !isFallbackBlock(block));
  return withRefusal(readHolder(noted, reported), message, hasContent);
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return withTerminal(reported);
  // Token counting answers with the count at the top level.
  const counted = readCount(body, 'input_tokens');
  const seen =
    counted !== null && body['usage'] === undefined
      ? withUsage(reported, { input_tokens: counted }, () => normaliseCount('input', counted))
      : readMessage(body, reported);
  return withTerminal(withErrorMember(seen, body));
}

/** A stream's opening, whose output count is a placeholder. */
export function readOpening(data: JsonObject, seen: ReportedUsage, before: ReportedUsage): ReportedUsage {
  return withPart(withReportedOutput(data, seen, before), 0, false);
}

/** Only a `message_delta` reports output. */
export function withReportedOutput(data: JsonObject, seen: ReportedUsage, before: ReportedUsage): ReportedUsage {
  const { usage } = seen;
  const isReported = readCount(readObject(data, 'usage'), 'output_tokens') !== null;
  if (usage === null || isReported || before.usage?.classes.output !== undefined) return seen;
  const { output: _, ...classes } = usage.classes;
  return { ...seen, usage: { ...usage, classes, reasoning: null } };
}

export function readStopReason(data: JsonObject, reported: ReportedUsage): ReportedUsage {
  const isStopped = readName(readObject(data, 'delta'), 'stop_reason') !== null;
  return isStopped ? withPart(reported, 0, true) : reported;
}

/** A whole stream without reported output has unknown output, not none. */
export function withKnownOutput(reported: ReportedUsage): ReportedUsage {
  return reported.usage?.classes.output === undefined ? withIncomplete(reported) : reported;
}

/** The event's own `type` decides: relays drop `event:` lines. */
function readEvent(
  eventType: string | null,
  data: JsonValue,
  reported: ReportedUsage,
  sawContent = false,
): ReportedUsage {
  if (!isObject(data)) return reported;
  switch (readName(data, 'type') ?? eventType) {
    case 'message_start':
      return readOpening(data, readHolder(readObject(data, 'message') ?? {}, reported), reported);
    case 'message_delta': {
      const seen = withRefusal(readHolder(data, reported), readObject(data, 'delta'), sawContent);
      return withFinalUsage(reported, readStopReason(data, withReportedOutput(data, seen, reported)));
    }
    case 'content_block_start': {
      const block = data['content_block'] ?? null;
      return isObject(block) && isFallbackBlock(block)
        ? withFallback(reported, data, block)
        : withBlocks(reported, [block]);
    }
    case 'message_stop':
      return withTerminal(withKnownOutput(reported));
    case 'error':
      return withErrorMember(reported, data);
    default:
      return reported;
  }
}

export const messages: UsageFormat = {
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
