/**
 * OpenAI's live sessions: sound is billed by a running total of its duration; delegated work has events of its own.
 * Source: OpenAI's API reference, live server events, November 2026.
 */
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { withErrorMember } from './read-error.ts';
import { readCount, readName, readObject } from './read-json.ts';
import { withAdded } from './realtime.ts';
import { NOTHING_REPORTED, UNNAMED_MODEL, withContext } from './reported-usage.ts';
import { responses } from './responses.ts';
import type { SessionFormat, SessionState } from './session.ts';
import { answerTurn, endTurn } from './session-turns.ts';

function withDuration(reported: ReportedUsage, usage: JsonObject | null): ReportedUsage {
  const seconds = readCount(usage, 'seconds');
  if (usage === null || seconds === null || seconds < 0) return reported;
  const before = reported.usage ?? { classes: {}, reasoning: null, native: {} };
  const classes = { ...before.classes, input_audio_ms: Math.round(seconds * 1000) };
  return { ...reported, usage: { ...before, classes, native: { ...before.native, ...usage } } };
}

function readDelegated(event: JsonObject | null, state: SessionState): SessionState {
  const type = readName(event, 'type');
  if (event === null) return state;
  if (type === 'decision.completed') {
    const decision = readObject(event, 'decision');
    const added = { purpose: 'decision', model: readName(decision, 'model') ?? UNNAMED_MODEL, isTiered: true };
    const normalise = (native: JsonObject) => normaliseOpenAi(native, RESPONSES_NAMES, {});
    return { ...state, reported: withAdded(state.reported, added, readObject(decision, 'usage'), normalise) };
  }
  const key = { lane: null, responseId: readName(readObject(event, 'response'), 'id') };
  if (type === 'response.created') return answerTurn(state, key);
  const read = responses.readEvent(type, event, NOTHING_REPORTED);
  // The response's model is never the session's, which is billed by the duration of its sound.
  return read.terminal ? endTurn(state, key, () => ({ ...read, model: read.model ?? UNNAMED_MODEL })) : state;
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  const type = readName(message, 'type');
  switch (type) {
    case 'response.event':
    case 'decision.event':
      return readDelegated(readObject(message, 'event'), state);
    case 'decision.completed':
      return readDelegated(message, state);
    case 'error':
      return { ...state, reported: withErrorMember(state.reported, message) };
    default: {
      const named = withContext(state.reported, {
        model: readName(readObject(message, 'session'), 'model'),
      });
      const isUsage = type === 'session.usage.updated' || type === 'session.closed';
      return { ...state, reported: isUsage ? withDuration(named, readObject(message, 'usage')) : named };
    }
  }
}

export const liveSession: SessionFormat = {
  name: 'live-session',
  billsTurnsAlone: false,
  isSerial: false,
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    String.raw`"session\.(?:started|updated|closed)"`,
    String.raw`"response\.created"`,
  ),
  hasContent: createEventTest(String.raw`\.delta"`),
  hasMedia: createEventTest(String.raw`"session\.(?:input_audio\.append|output_audio\.delta)"`),
  asks: () => false,
  readServer,
  readModelRequested: (message) => readName(readObject(message, 'session'), 'model'),
  finish: (state) => state,
};
