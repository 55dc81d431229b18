/**
 * OpenAI's realtime sessions: each `response.done` is a turn with its own usage, and user transcripts belong to another
 * model. Source: OpenAI's API reference, realtime server events, November 2026.
 */
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { type AddedUsage, addUsage } from './add-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { type ByModality, setInput } from './modalities.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { withErrorMember } from './read-error.ts';
import { readCount, readName, readObject } from './read-json.ts';
import { createDraft, type Normalised, UNNAMED_MODEL, withContext, withFlag, withUsage } from './reported-usage.ts';
import type { SessionFormat, SessionState } from './session.ts';
import { answerTurn, endTurn, type TurnKey } from './session-turns.ts';

function readParts(details: JsonObject | null): ByModality {
  const audio = readCount(details, 'audio_tokens');
  const image = readCount(details, 'image_tokens');
  return { ...(audio === null ? {} : { audio }), ...(image === null ? {} : { image }) };
}

function normaliseRealtime(native: JsonObject): Normalised {
  const draft = createDraft();
  const input = readCount(native, 'input_tokens');
  const output = readCount(native, 'output_tokens');
  const total = readCount(native, 'total_tokens');
  const details = readObject(native, 'input_token_details');
  const cachedDetails = readObject(details, 'cached_tokens_details');
  const parts = readParts(details);
  const text = readCount(details, 'text_tokens');
  if (input !== null) {
    setInput(draft, {
      total: input,
      cached: readCount(details, 'cached_tokens'),
      parts,
      cachedParts: cachedDetails === null ? null : readParts(cachedDetails),
    });
    if (text !== null && text + (parts.audio ?? 0) + (parts.image ?? 0) !== input) draft.remark();
  }
  const outputDetails = readObject(native, 'output_token_details');
  const outputAudio = readCount(outputDetails, 'audio_tokens');
  draft.set('output_audio', outputAudio);
  draft.set('output', output === null ? null : output - (outputAudio ?? 0));
  if (total !== null && input !== null && output !== null && input + output !== total) draft.remark();
  draft.expectBoth(input, output);
  // Text and sound have different rates.
  if ((input ?? 0) > 0 && details === null) draft.lack();
  if ((output ?? 0) > 0 && outputDetails === null) draft.lack();
  return draft.done(null);
}

/** Tokens, or a duration for models billed by it. */
function normaliseTranscription(native: JsonObject): Normalised {
  if (readName(native, 'type') !== 'duration') return normaliseOpenAi(native, RESPONSES_NAMES, {});
  const seconds = readCount(native, 'seconds');
  const draft = createDraft();
  draft.set('input_audio_ms', seconds === null ? null : Math.round(seconds * 1000));
  return draft.done(null);
}

/** Adds one report, read by itself: it is not a running total. */
export function withAdded(
  reported: ReportedUsage,
  added: Omit<AddedUsage, 'usage'>,
  usageObject: JsonObject | null,
  normalise: (native: JsonObject) => Normalised,
): ReportedUsage {
  const alone = withUsage({ ...reported, usage: null, flags: [] }, usageObject, normalise);
  if (alone.usage === null) return reported;
  const sum = { ...reported, usage: addUsage(reported.usage, { ...added, usage: alone.usage }) };
  return alone.flags.reduce(withFlag, sum);
}

function readSession(message: JsonObject, state: SessionState): SessionState {
  const session = readObject(message, 'session');
  if (session === null) return state;
  const input = readObject(readObject(session, 'audio'), 'input');
  const transcription = readObject(input, 'transcription') ?? readObject(session, 'input_audio_transcription');
  return {
    ...state,
    reported: withContext(state.reported, { model: readName(session, 'model') }),
    transcriptionModel: readName(transcription, 'model') ?? state.transcriptionModel,
  };
}

function keyOf(message: JsonObject): TurnKey {
  return { lane: null, responseId: readName(readObject(message, 'response'), 'id') };
}

function readDone(message: JsonObject, state: SessionState): SessionState {
  const response = readObject(message, 'response');
  const details = readObject(response, 'status_details');
  return endTurn(state, keyOf(message), (before) => {
    const named = withContext(before, { model: state.reported.model });
    const reported = withUsage(named, readObject(response, 'usage') ?? undefined, normaliseRealtime);
    return details === null ? reported : withErrorMember(reported, details);
  });
}

function readTranscription(message: JsonObject, state: SessionState): SessionState {
  const usage = readObject(message, 'usage');
  // A session that only transcribes has no other model.
  const model = state.reported.model === null ? null : (state.transcriptionModel ?? UNNAMED_MODEL);
  const purpose = model === null ? null : 'transcription';
  const reported = withAdded(state.reported, { purpose, model, isTiered: false }, usage, normaliseTranscription);
  return { ...state, reported };
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  switch (readName(message, 'type')) {
    case 'session.created':
    case 'session.updated':
    case 'transcription_session.created':
    case 'transcription_session.updated':
      return readSession(message, state);
    case 'response.created':
      return answerTurn(state, keyOf(message));
    case 'response.done':
      return readDone(message, state);
    case 'conversation.item.input_audio_transcription.completed':
      return readTranscription(message, state);
    case 'error':
      return { ...state, reported: withErrorMember(state.reported, message) };
    default:
      return state;
  }
}

function finish(state: SessionState): SessionState {
  return {
    ...state,
    reported: withContext(state.reported, { model: state.reported.model ?? state.transcriptionModel }),
  };
}

export const realtime: SessionFormat = {
  name: 'realtime',
  billsTurnsAlone: false,
  isSerial: false,
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
  asks: createEventTest(String.raw`"response\.create"`),
  readServer,
  readModelRequested: () => null,
  finish,
};
