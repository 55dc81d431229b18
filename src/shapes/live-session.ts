/**
 * OpenAI's live sessions: sound is billed by its duration, a running total of the whole session, while work that is
 * delegated to other models is reported in events of theirs. Source: OpenAI's API reference, live server events,
 * November 2026.
 */
import type { JsonObject, UsageReading } from '../token-usage.ts';
import { addTurn } from './add-turn.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { readCount, readName, readObject } from './json-reading.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { EMPTY_READING, termsOf, withContext, withFlag } from './reading.ts';
import { withTurn } from './realtime.ts';
import { responses } from './responses.ts';
import type { SessionShape, SessionState } from './session.ts';

const UNNAMED_MODEL = 'unknown';

/** The latest total takes the place of the one before. */
function withDuration(reading: UsageReading, usage: JsonObject | null): UsageReading {
  const seconds = readCount(usage ?? undefined, 'seconds');
  if (usage === null || seconds === null || seconds < 0) return reading;
  const before = reading.usage ?? { classes: {}, reasoning: null, native: {} };
  const classes = { ...before.classes, input_audio_ms: Math.round(seconds * 1000) };
  return { ...reading, usage: { ...before, classes, native: { ...before.native, ...usage } } };
}

function readDelegated(event: JsonObject | null, state: SessionState): SessionState {
  const type = readName(event ?? undefined, 'type');
  if (event === null) return state;
  if (type === 'decision.completed') {
    const decision = readObject(event, 'decision') ?? undefined;
    const turn = { purpose: 'decision', model: readName(decision, 'model') ?? UNNAMED_MODEL, isTiered: true };
    const normalise = (native: JsonObject) => normaliseOpenAi(native, RESPONSES_NAMES, {});
    return { ...state, reading: withTurn(state.reading, turn, readObject(decision, 'usage'), normalise) };
  }
  if (type === 'response.created') return { ...state, openTurns: state.openTurns + 1 };
  const turn = responses.readEvent(type, event, EMPTY_READING);
  if (!turn.terminal) return state;
  const openTurns = Math.max(0, state.openTurns - 1);
  if (turn.usage === null) return { ...state, openTurns };
  const model = turn.model ?? UNNAMED_MODEL;
  const terms = turn.serviceTier === null ? {} : { terms: termsOf(turn) };
  const delegated = { purpose: 'delegation', model, ...terms, usage: turn.usage, isTiered: true };
  const usage = addTurn(state.reading.usage, delegated);
  return { ...state, openTurns, reading: turn.flags.reduce(withFlag, { ...state.reading, usage }) };
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
      return { ...state, reading: withErrorMember(state.reading, message) };
    default: {
      const named = withContext(state.reading, {
        model: readName(readObject(message, 'session') ?? undefined, 'model'),
      });
      const isUsage = type === 'session.usage.updated' || type === 'session.closed';
      return { ...state, reading: isUsage ? withDuration(named, readObject(message, 'usage')) : named };
    }
  }
}

export const liveSession: SessionShape = {
  name: 'live-session',
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    String.raw`"session\.(?:started|updated|closed)"`,
    String.raw`"response\.created"`,
  ),
  hasContent: createEventTest(String.raw`\.delta"`),
  hasMedia: createEventTest(String.raw`"session\.(?:input_audio\.append|output_audio\.delta)"`),
  readServer,
  readModelRequested: (message) => readName(readObject(message, 'session') ?? undefined, 'model'),
  finish: (state) => state,
};
