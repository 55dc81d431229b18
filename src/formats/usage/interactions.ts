/**
 * Google's Interactions: the finished interaction carries usage. A later fetch repeats it, so each is billed once, by
 * its id. Source: Gemini API reference, Interactions, November 2026.
 */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { INTERACTION_NAMES, normaliseGemini } from './gemini-usage.ts';
import { readToolCounts } from './grounding.ts';
import { withError, withErrorMember } from './read-error.ts';
import { isObject, readArray, readName, readObject } from './read-json.ts';
import { withContext, withEnding, withLaterResult, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

/** All other statuses are endings, also a wait for a tool's result, which comes as another interaction. */
const RUNNING_STATUSES: readonly string[] = ['queued', 'in_progress'];

const COMPLETED = /^interaction\.completed?$/;

function withFailure(reported: ReportedUsage, interaction: JsonObject): ReportedUsage {
  if (readName(interaction, 'status') !== 'failed') return reported;
  const [first] = readArray(interaction, 'errors');
  return withError(reported, readName(first, 'code'), readName(first, 'message') ?? undefined);
}

function readInteraction(interaction: JsonObject, reported: ReportedUsage): ReportedUsage {
  // An agent's tokens belong to models that it does not name.
  const model = readName(interaction, 'model') ?? readName(interaction, 'agent');
  const usage = readObject(interaction, 'usage');
  const named = withContext(reported, { model, serviceTier: readName(interaction, 'service_tier') });
  const seen = withUsage(named, usage, (native) =>
    normaliseGemini(native, INTERACTION_NAMES, readToolCounts(native, named.model), named.model),
  );
  return withFailure(seen, interaction);
}

function readHandedOver(interaction: JsonObject, reported: ReportedUsage): ReportedUsage {
  const status = readName(interaction, 'status');
  const seen = readInteraction(interaction, reported);
  if (status === null) return seen;
  return withEnding(withLaterResult(seen, readName(interaction, 'id'), !RUNNING_STATUSES.includes(status)), status);
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return withTerminal(reported);
  return withTerminal(withErrorMember(readHandedOver(body, reported), body));
}

function readEvent(eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const interaction = readObject(data, 'interaction');
  if (COMPLETED.test(readName(data, 'event_type') ?? eventType ?? ''))
    return withTerminal(readHandedOver(interaction ?? data, reported));
  // A stream may yet be cut: the fetch that follows is billed, and this record keeps what was seen.
  const seen = interaction === null ? reported : readInteraction(interaction, reported);
  return withErrorMember(seen, data);
}

export const interactions: UsageFormat = {
  name: 'interactions',
  readHead: (header, reported) => withContext(reported, { serviceTier: header('x-gemini-service-tier') }),
  readJson,
  mayMatter: createEventTest(String.raw`"interaction\.complete`, USAGE_PATTERN, ERROR_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
