/** OpenAI's Responses over a websocket. Source: API reference, Responses websocket events, November 2026. */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { MAX_NAME_CHARS, readName, readObject } from './read-json.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { responses } from './responses.ts';
import type { SessionFormat, SessionState } from './session.ts';
import { answerTurn, beginTurn, endTurn, type TurnKey } from './session-turns.ts';

const CREATE = '"response.create"';
const ESCAPE = '\\u';
const CREATE_MEMBERS = ['model', 'stream_id', 'generate'];

/** Any letter may be written as an escape, and the text of a message may have the word. */
export function beginsTurn(message: Buffer): boolean {
  if (!message.includes(CREATE) && !message.includes(ESCAPE)) return false;
  return scanTopLevel(message, ['type']).members.get('type')?.scalar === 'response.create';
}

/** `stream_id` is a lane; events of a response repeat it. */
function keyOf(message: JsonObject): TurnKey {
  return { lane: readName(message, 'stream_id'), responseId: readName(readObject(message, 'response'), 'id') };
}

/** An error answers the request that waits in its lane, or ends the response under way there. */
function readError(message: JsonObject, state: SessionState): SessionState {
  const { lane } = keyOf(message);
  const ownLane = state.open.filter((turn) => turn.lane === lane);
  const turn = ownLane.find(({ responseId }) => responseId === null) ?? ownLane[0];
  if (turn === undefined) return { ...state, reported: responses.readEvent('error', message, state.reported) };
  return endTurn(state, turn, (before) => responses.readEvent('error', message, before));
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  const type = readName(message, 'type');
  if (type === 'response.created') return answerTurn(state, keyOf(message));
  if (type === 'error') return readError(message, state);
  const read = responses.readEvent(type, message, NOTHING_REPORTED);
  return read.terminal ? endTurn(state, keyOf(message), () => read) : state;
}

/** The message may hold a whole conversation, so only its own members are looked at. */
function readRequest(data: Buffer, state: SessionState): SessionState {
  const { members } = scanTopLevel(data, CREATE_MEMBERS);
  const readText = (name: string): string | null => {
    const value = members.get(name)?.scalar;
    return typeof value === 'string' && value !== '' ? value.slice(0, MAX_NAME_CHARS) : null;
  };
  const modelRequested = readText('model');
  const flags = members.get('generate')?.scalar === false ? (['prewarm'] as const) : [];
  const asked = { ...state, modelRequested: state.modelRequested ?? modelRequested };
  return beginTurn(asked, { lane: readText('stream_id'), modelRequested, flags });
}

export const responsesSession: SessionFormat = {
  name: 'responses-session',
  billsTurnsAlone: true,
  isSerial: false,
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    String.raw`"response\.(?:created|completed|failed|incomplete)"`,
  ),
  hasContent: createEventTest(String.raw`\.delta"`),
  hasMedia: createEventTest('"data:(?:image|audio)/', '"partial_image_b64"'),
  asks: beginsTurn,
  readServer,
  readRequest,
  readModelRequested: () => null,
  finish: (state) => state,
};
