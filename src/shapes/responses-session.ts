/**
 * OpenAI's Responses over a websocket: the events of its streams, one response after another on one connection, each
 * with a usage of its own. Source: OpenAI's API reference, Responses websocket events, November 2026.
 */
import type { JsonObject } from '../token-usage.ts';
import { addTurn } from './add-turn.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { readName } from './json-reading.ts';
import { areSameTerms, EMPTY_READING, termsOf, withContext, withFlag } from './reading.ts';
import { responses } from './responses.ts';
import type { SessionShape, SessionState } from './session.ts';

function readServer(message: JsonObject, state: SessionState): SessionState {
  const type = readName(message, 'type');
  if (type === 'response.created') return { ...state, openTurns: state.openTurns + 1 };
  // Read by itself: what an event reports is of its own response.
  const turn = responses.readEvent(type, message, EMPTY_READING);
  const { usage, model, serviceTier, error } = turn;
  if (!turn.terminal) return error === null ? state : { ...state, reading: { ...state.reading, error } };
  const own = state.reading.model;
  // The session's terms are those of its first turn; turns on others are priced apart.
  const isFirst = state.reading.usage === null;
  const isOnTerms = isFirst || areSameTerms(termsOf(state.reading), termsOf(turn));
  const reading = withContext(
    {
      ...state.reading,
      serviceTier: isFirst ? serviceTier : state.reading.serviceTier,
      error: error ?? state.reading.error,
      usage:
        usage === null
          ? state.reading.usage
          : addTurn(state.reading.usage, {
              purpose: null,
              // The first response's model is the session's own.
              model: own === null || model === own ? null : model,
              ...(isOnTerms ? {} : { terms: termsOf(turn) }),
              usage,
              isTiered: true,
            }),
    },
    { model: own ?? model },
  );
  return { ...state, reading: turn.flags.reduce(withFlag, reading), openTurns: Math.max(0, state.openTurns - 1) };
}

export const responsesSession: SessionShape = {
  name: 'responses-session',
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    String.raw`"response\.(?:created|completed|failed|incomplete)"`,
  ),
  hasContent: createEventTest(String.raw`\.delta"`),
  hasMedia: createEventTest('"data:(?:image|audio)/', '"partial_image_b64"'),
  readServer,
  readModelRequested: (message) =>
    readName(message, 'type') === 'response.create' ? readName(message, 'model') : null,
  finish: (state) => state,
};
