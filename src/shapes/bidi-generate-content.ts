/**
 * Google's live sessions (`BidiGenerateContent`). `usageMetadata` is of one turn, whose prompt is the whole conversation
 * so far, and every turn is billed: turns are added up. Sources, November 2026: ai.google.dev, Live API reference and
 * best practices ("pricing and billing": the whole context is billed on every turn); a probe of three turns on two
 * models in pydantic/pydantic-ai#7269, where each turn reports its own response tokens.
 */
import type { JsonObject } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN } from './event-test.ts';
import { normaliseLive } from './generate-content.ts';
import { readArray, readCount, readName, readObject } from './json-reading.ts';
import { withContext } from './reading.ts';
import { withTurn } from './realtime.ts';
import type { SessionShape, SessionState } from './session.ts';

/** Adds the turn whose running total is held. */
function closeTurn(state: SessionState): SessionState {
  const { running, searches } = state;
  const turn = { purpose: null, model: null, isTiered: false };
  const reading = withTurn(state.reading, turn, running, (native) => normaliseLive(native, searches));
  return { ...state, reading, running: null, searches: null };
}

/** Two reports with the same prompt before the turn is over are running totals of one generation: the latest counts. */
function readUsage(message: JsonObject, state: SessionState): SessionState {
  const usage = readObject(message, 'usageMetadata');
  if (usage === null) return state;
  const isSame =
    state.running !== null && readCount(state.running, 'promptTokenCount') === readCount(usage, 'promptTokenCount');
  const before = isSame || state.running === null ? state : closeTurn(state);
  const serviceTier = readName(usage, 'serviceTier') ?? readName(usage, 'trafficType');
  return { ...before, running: usage, openTurns: 0, reading: withContext(before.reading, { serviceTier }) };
}

function countSearches(content: JsonObject | null): number | null {
  const queries = readArray(readObject(content ?? undefined, 'groundingMetadata') ?? undefined, 'webSearchQueries');
  return queries.length === 0 ? null : queries.length;
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  const content = readObject(message, 'serverContent');
  const found = countSearches(content);
  const isWorking = readObject(content ?? undefined, 'modelTurn') !== null || readObject(message, 'toolCall') !== null;
  const begun: SessionState = {
    ...state,
    openTurns: isWorking ? 1 : state.openTurns,
    // Repeated on several messages of a turn: the largest counts.
    searches: found === null ? state.searches : Math.max(found, state.searches ?? 0),
  };
  const seen = readUsage(message, begun);
  const reading = withErrorMember(seen.reading, message);
  const read = reading === seen.reading ? seen : { ...seen, reading };
  return content?.['turnComplete'] === true ? closeTurn(read) : read;
}

/** `models/gemini-x` → `gemini-x`. */
function readModelRequested(message: JsonObject): string | null {
  return readName(readObject(message, 'setup') ?? undefined, 'model')?.replace(/^models\//, '') ?? null;
}

export const bidiGenerateContent: SessionShape = {
  name: 'bidi-generate-content',
  mayMatter: createEventTest(
    '"usageMetadata"',
    '"turnComplete"',
    '"modelTurn"',
    '"toolCall"',
    '"groundingMetadata"',
    ERROR_PATTERN,
  ),
  hasContent: createEventTest('"modelTurn"', '"outputTranscription"', '"toolCall"'),
  hasMedia: createEventTest('"inlineData"', '"mediaChunks"', '"realtimeInput"\\s*:\\s*\\{\\s*"(?:audio|video)"'),
  readServer,
  readModelRequested,
  finish: closeTurn,
};
