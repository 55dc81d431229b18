/**
 * Google's Interactions: usage stands on the interaction, which a stream hands over at its end. Every answer names its
 * interaction, and what is fetched later does not say whether it was billed when it was made: so each is billed once,
 * by its id. Source: Gemini API reference, Interactions, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withError, withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { INTERACTION_NAMES, normaliseGemini } from './gemini-usage.ts';
import { readToolCounts } from './grounding.ts';
import { isObject, readArray, readName, readObject } from './json-reading.ts';
import { withContext, withLaterResult, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** All others are endings: also one that waits for a tool's result, which the client sends as another interaction. */
const RUNNING_STATUSES: readonly string[] = ['queued', 'in_progress'];

const COMPLETED = /^interaction\.completed?$/;

function withFailure(reading: UsageReading, interaction: JsonObject): UsageReading {
  if (readName(interaction, 'status') !== 'failed') return reading;
  const [first] = readArray(interaction, 'errors');
  return withError(reading, readName(first, 'code'), readName(first, 'message') ?? undefined);
}

function readInteraction(interaction: JsonObject, reading: UsageReading): UsageReading {
  // An agent's tokens are those of models that it does not name.
  const model = readName(interaction, 'model') ?? readName(interaction, 'agent');
  const usage = readObject(interaction, 'usage') ?? undefined;
  const named = withContext(reading, { model, serviceTier: readName(interaction, 'service_tier') });
  const seen = withUsage(named, usage, (native) =>
    normaliseGemini(native, INTERACTION_NAMES, readToolCounts(native, named.model)),
  );
  return withFailure(seen, interaction);
}

/** The interaction was handed over in full. */
function readHandedOver(interaction: JsonObject, reading: UsageReading): UsageReading {
  const status = readName(interaction, 'status');
  const seen = readInteraction(interaction, reading);
  if (status === null) return seen;
  return withLaterResult(seen, readName(interaction, 'id'), !RUNNING_STATUSES.includes(status));
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  return withTerminal(withErrorMember(readHandedOver(body, reading), body));
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const interaction = readObject(data, 'interaction');
  if (COMPLETED.test(readName(data, 'event_type') ?? eventType ?? ''))
    return withTerminal(readHandedOver(interaction ?? data, reading));
  // What began may yet be cut: whoever fetches it then gets its usage, and this record says what was seen.
  const seen = interaction === null ? reading : readInteraction(interaction, reading);
  return withErrorMember(seen, data);
}

export const interactions: Shape = {
  name: 'interactions',
  readHead: (header, reading) => withContext(reading, { serviceTier: header('x-gemini-service-tier') }),
  readJson,
  mayMatter: createEventTest(String.raw`"interaction\.complete`, USAGE_PATTERN, ERROR_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
