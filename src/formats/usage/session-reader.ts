/** Reads usage from a session's messages as they pass. It never throws; unreadable messages become flags. */

import type { SessionName } from '../../providers/format-names.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { bidiGenerateContent } from './bidi-generate-content.ts';
import { liveSession } from './live-session.ts';
import { isObject, parseJson } from './read-json.ts';
import { realtime } from './realtime.ts';
import { withFlag } from './reported-usage.ts';
import { responsesSession } from './responses-session.ts';
import { EMPTY_SESSION, type SessionFormat, type SessionState, type Turn } from './session.ts';

const opaqueSession: SessionFormat = {
  name: 'opaque-session',
  billsTurnsAlone: false,
  isSerial: false,
  mayMatter: () => false,
  hasContent: () => false,
  // An unknown format may carry media: nothing is kept.
  hasMedia: () => true,
  asks: () => false,
  readServer: (_message, state) => state,
  readModelRequested: () => null,
  finish: (state) => state,
};

const SESSIONS: Readonly<Record<SessionName, SessionFormat>> = Object.freeze({
  realtime,
  'responses-session': responsesSession,
  'live-session': liveSession,
  'bidi-generate-content': bidiGenerateContent,
  'opaque-session': opaqueSession,
});

/** The client names the model in one of its first messages, if at all. */
const MODEL_LOOKS = 8;

/** What one message has changed. */
export interface SessionNews {
  readonly begun: readonly Turn[];
  /** Still open, with news of their own. */
  readonly changed: readonly Turn[];
  readonly ended: readonly Turn[];
  /** Usage or an error that belongs to no turn. */
  readonly isOfSession: boolean;
}

export interface SessionReader {
  /** Takes a whole provider message. */
  readonly pushServer: (data: Buffer) => SessionNews;
  readonly pushClient: (data: Buffer) => SessionNews;
  /** As in `SessionFormat`. */
  readonly asks: (data: Buffer) => boolean;
  readonly hasContent: (data: Buffer) => boolean;
  readonly isSerial: boolean;
  /** True for a message that belongs in the transcript: text without sound or pictures. */
  readonly isTranscribed: (data: Buffer) => boolean;
  /** Turns that are still open keep what they reported. */
  readonly finish: () => void;
  readonly openTurns: readonly Turn[];
  /** What belongs to no turn. */
  readonly reported: ReportedUsage;
  readonly modelRequested: string | null;
}

const NO_NEWS: SessionNews = Object.freeze({ begun: [], changed: [], ended: [], isOfSession: false });

export function createSessionReader(name: SessionName): SessionReader {
  const format = SESSIONS[name];
  // Mutable because messages come one by one.
  let state = EMPTY_SESSION;
  let modelLooks = 0;

  function advance(read: (before: SessionState) => SessionState): SessionNews {
    const before = state.ended.length === 0 ? state : { ...state, ended: [] };
    state = read(before);
    return state === before ? NO_NEWS : compare(before, state);
  }

  return {
    pushServer: (data) => {
      if (!format.mayMatter(data)) return NO_NEWS;
      const message = parseJson(data);
      return isObject(message) ? advance((before) => format.readServer(message, before)) : NO_NEWS;
    },
    pushClient: (data) => {
      const { readRequest } = format;
      if (readRequest !== undefined) {
        return format.asks(data) ? advance((before) => readRequest(data, before)) : NO_NEWS;
      }
      if (state.modelRequested !== null || modelLooks >= MODEL_LOOKS || format.hasMedia(data)) return NO_NEWS;
      modelLooks += 1;
      const message = parseJson(data);
      if (isObject(message)) state = { ...state, modelRequested: format.readModelRequested(message) };
      return NO_NEWS;
    },
    asks: format.asks,
    hasContent: format.hasContent,
    isSerial: format.isSerial,
    isTranscribed: (data) => !format.hasMedia(data),
    finish: () => {
      state = format.finish(state);
      state = { ...state, reported: { ...state.reported, terminal: true } };
    },
    get openTurns() {
      return state.open;
    },
    get reported() {
      const { reported } = state;
      return format.billsTurnsAlone || state.begun > 0 ? withFlag(reported, 'usage_in_turns') : reported;
    },
    get modelRequested() {
      return state.modelRequested;
    },
  };
}

function compare(before: SessionState, after: SessionState): SessionNews {
  const { open, ended } = after;
  return {
    begun: [...open, ...ended].filter(({ number }) => number > before.begun),
    changed: open.filter((turn) => turn.number <= before.begun && !before.open.includes(turn)),
    ended,
    isOfSession: after.reported.usage !== before.reported.usage || after.reported.error !== before.reported.error,
  };
}
