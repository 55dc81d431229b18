/**
 * Reads usage from the messages of a session while they pass. It parses the few that matter and never throws; what
 * cannot be read is a flag on the reading.
 */
import type { UsageReading } from '../token-usage.ts';
import { bidiGenerateContent } from './bidi-generate-content.ts';
import { isObject, parseJson } from './json-reading.ts';
import { liveSession } from './live-session.ts';
import { realtime } from './realtime.ts';
import { responsesSession } from './responses-session.ts';
import { EMPTY_SESSION, type SessionName, type SessionShape } from './session.ts';

const opaqueSession: SessionShape = {
  name: 'opaque-session',
  mayMatter: () => false,
  hasContent: () => false,
  // What it carries is not known: nothing is kept of it.
  hasMedia: () => true,
  readServer: (_message, state) => state,
  readModelRequested: () => null,
  finish: (state) => state,
};

const SESSIONS: Readonly<Record<SessionName, SessionShape>> = Object.freeze({
  realtime,
  'responses-session': responsesSession,
  'live-session': liveSession,
  'bidi-generate-content': bidiGenerateContent,
  'opaque-session': opaqueSession,
});

/** The client names the model in one of its first messages, or in none. */
const MODEL_LOOKS = 8;

export interface SessionReader {
  /** A whole message from the provider. True when usage was added or an error was told. */
  readonly pushServer: (data: Buffer) => boolean;
  readonly pushClient: (data: Buffer) => void;
  /** True for a message that belongs into the transcript: text, no sound, no pictures. */
  readonly isTranscribed: (data: Buffer) => boolean;
  readonly finish: () => void;
  readonly reading: UsageReading;
  readonly modelRequested: string | null;
  readonly sawContent: boolean;
}

export function createSessionReader(name: SessionName): SessionReader {
  const shape = SESSIONS[name];
  // Mutable because the messages come one by one.
  let state = EMPTY_SESSION;
  let sawContent = false;
  let modelLooks = 0;

  return {
    pushServer: (data) => {
      if (!sawContent && shape.hasContent(data)) sawContent = true;
      if (!shape.mayMatter(data)) return false;
      const message = parseJson(data);
      if (!isObject(message)) return false;
      const before = state.reading;
      state = shape.readServer(message, state);
      return state.reading.usage !== before.usage || state.reading.error !== before.error;
    },
    pushClient: (data) => {
      if (state.modelRequested !== null || modelLooks >= MODEL_LOOKS || shape.hasMedia(data)) return;
      modelLooks += 1;
      const message = parseJson(data);
      if (isObject(message)) state = { ...state, modelRequested: shape.readModelRequested(message) };
    },
    isTranscribed: (data) => !shape.hasMedia(data),
    finish: () => {
      const isOpen = state.openTurns > 0;
      state = shape.finish(state);
      state = { ...state, reading: { ...state.reading, terminal: !isOpen } };
    },
    get reading() {
      return state.reading;
    },
    get modelRequested() {
      return state.modelRequested;
    },
    get sawContent() {
      return sawContent;
    },
  };
}
