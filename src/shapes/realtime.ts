/**
 * OpenAI's realtime sessions, as OpenAI and Together serve them: each `response.done` is a turn with a usage of its own,
 * and transcripts of what the user said are billed to another model. Source: OpenAI's API reference, realtime server
 * events, November 2026.
 */
import type { JsonObject, UsageReading } from '../token-usage.ts';
import { addTurn, type Turn } from './add-turn.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { readCount, readName, readObject } from './json-reading.ts';
import { type ByModality, setInput } from './modalities.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { createDraft, type Normalised, withContext, withFlag, withUsage } from './reading.ts';
import type { SessionShape, SessionState } from './session.ts';

/** A model that the session does not name: no price is known for it, and none is guessed. */
const UNNAMED_MODEL = 'unknown';

function readParts(details: JsonObject | null): ByModality {
  const audio = readCount(details ?? undefined, 'audio_tokens');
  const image = readCount(details ?? undefined, 'image_tokens');
  return { ...(audio === null ? {} : { audio }), ...(image === null ? {} : { image }) };
}

function normaliseRealtime(native: JsonObject): Normalised {
  const draft = createDraft();
  const input = readCount(native, 'input_tokens');
  const output = readCount(native, 'output_tokens');
  const total = readCount(native, 'total_tokens');
  const details = readObject(native, 'input_token_details');
  const cachedDetails = readObject(details ?? undefined, 'cached_tokens_details');
  const parts = readParts(details);
  const text = readCount(details ?? undefined, 'text_tokens');
  if (input !== null) {
    setInput(draft, {
      total: input,
      cached: readCount(details ?? undefined, 'cached_tokens'),
      written: null,
      parts,
      cachedParts: cachedDetails === null ? null : readParts(cachedDetails),
      extra: 0,
      extraParts: {},
    });
    if (text !== null && text + (parts.audio ?? 0) + (parts.image ?? 0) !== input) draft.remark();
  }
  const outputAudio = readCount(readObject(native, 'output_token_details') ?? undefined, 'audio_tokens');
  draft.set('output_audio', outputAudio);
  draft.set('output', output === null ? null : output - (outputAudio ?? 0));
  if (total !== null && input !== null && output !== null && input + output !== total) draft.remark();
  return draft.done(null);
}

/** Tokens, or a duration where the model is billed by it. */
function normaliseTranscription(native: JsonObject): Normalised {
  if (readName(native, 'type') !== 'duration') return normaliseOpenAi(native, RESPONSES_NAMES, {});
  const seconds = readCount(native, 'seconds');
  const draft = createDraft();
  draft.set('input_audio_ms', seconds === null ? null : Math.round(seconds * 1000));
  return draft.done(null);
}

/** The reading with one more turn; `reported` is read by itself, since turns are not running totals of each other. */
export function withTurn(
  reading: UsageReading,
  turn: Omit<Turn, 'usage'>,
  reported: JsonObject | null,
  normalise: (native: JsonObject) => Normalised,
): UsageReading {
  const alone = withUsage({ ...reading, usage: null, flags: [] }, reported ?? undefined, normalise);
  if (alone.usage === null) return reading;
  const sum = { ...reading, usage: addTurn(reading.usage, { ...turn, usage: alone.usage }) };
  return alone.flags.reduce(withFlag, sum);
}

function readSession(message: JsonObject, state: SessionState): SessionState {
  const session = readObject(message, 'session');
  if (session === null) return state;
  const input = readObject(readObject(session, 'audio') ?? undefined, 'input');
  const transcription =
    readObject(input ?? undefined, 'transcription') ?? readObject(session, 'input_audio_transcription');
  return {
    ...state,
    reading: withContext(state.reading, { model: readName(session, 'model') }),
    transcriptionModel: readName(transcription ?? undefined, 'model') ?? state.transcriptionModel,
  };
}

function readDone(message: JsonObject, state: SessionState): SessionState {
  const response = readObject(message, 'response') ?? undefined;
  const usage = readObject(response, 'usage');
  const reading = withTurn(state.reading, { purpose: null, model: null, isTiered: false }, usage, normaliseRealtime);
  const details = readObject(response, 'status_details');
  return {
    ...state,
    openTurns: Math.max(0, state.openTurns - 1),
    reading: details === null ? reading : withErrorMember(reading, details),
  };
}

function readTranscription(message: JsonObject, state: SessionState): SessionState {
  const usage = readObject(message, 'usage');
  // A session that does nothing but transcribe has no other model.
  const model = state.reading.model === null ? null : (state.transcriptionModel ?? UNNAMED_MODEL);
  const purpose = model === null ? null : 'transcription';
  const reading = withTurn(state.reading, { purpose, model, isTiered: false }, usage, normaliseTranscription);
  return { ...state, reading };
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  switch (readName(message, 'type')) {
    case 'session.created':
    case 'session.updated':
    case 'transcription_session.created':
    case 'transcription_session.updated':
      return readSession(message, state);
    case 'response.created':
      return { ...state, openTurns: state.openTurns + 1 };
    case 'response.done':
      return readDone(message, state);
    case 'conversation.item.input_audio_transcription.completed':
      return readTranscription(message, state);
    case 'error':
      return { ...state, reading: withErrorMember(state.reading, message) };
    default:
      return state;
  }
}

/** The served model of a session without one of its own is that of its transcripts. */
function finish(state: SessionState): SessionState {
  return { ...state, reading: withContext(state.reading, { model: state.reading.model ?? state.transcriptionModel }) };
}

export const realtime: SessionShape = {
  name: 'realtime',
  mayMatter: createEventTest(
    USAGE_PATTERN,
    ERROR_PATTERN,
    '"(?:transcription_)?session\\.(?:created|updated)"',
    '"response\\.created"',
  ),
  hasContent: createEventTest(String.raw`\.delta"`),
  hasMedia: createEventTest(
    '"input_audio_buffer.append"',
    String.raw`"response\.(?:output_)?audio\.delta"`,
    '"input_image"',
    '"audio"\\s*:\\s*"[^"]',
    '"audio_output\\.delta"',
  ),
  readServer,
  readModelRequested: () => null,
  finish,
};
