/**
 * The contract of a session: how usage stands in the messages of one websocket API. Unlike an answer, a session has
 * many turns, each billed by itself, so that their usage is added up. Its functions are total: on anything unexpected
 * they return the state unchanged. It knows nothing of frames.
 */
import type { JsonObject, UsageReading } from '../token-usage.ts';
import { EMPTY_READING } from './reading.ts';

export type SessionName =
  | 'realtime'
  | 'responses-session'
  | 'live-session'
  | 'bidi-generate-content'
  /** Relayed and logged, not metered. */
  | 'opaque-session';

export interface SessionState {
  /** The usage in it is the sum of the turns that are over. */
  readonly reading: UsageReading;
  /** What the client asked for, where it does so in a message. */
  readonly modelRequested: string | null;
  /** The model of the session's transcripts, which is billed apart. */
  readonly transcriptionModel: string | null;
  /** Turns that have begun and are not over. */
  readonly openTurns: number;
  /** Of the turn that is not over: its latest running total. */
  readonly running: JsonObject | null;
  /** Of the turn that is not over: the searches that its answer is grounded in. */
  readonly searches: number | null;
}

export const EMPTY_SESSION: SessionState = Object.freeze({
  reading: EMPTY_READING,
  modelRequested: null,
  transcriptionModel: null,
  openTurns: 0,
  running: null,
  searches: null,
});

export interface SessionShape {
  readonly name: SessionName;
  /** Cheap test on the bytes of a provider's message: may it carry usage, a model, an error or a turn's beginning? */
  readonly mayMatter: (data: Buffer) => boolean;
  /** True for a provider's message that carries content: what the time to the first token is measured by. */
  readonly hasContent: (data: Buffer) => boolean;
  /** True for a message of either side that carries sound or pictures: it is left out of the transcript. */
  readonly hasMedia: (data: Buffer) => boolean;
  readonly readServer: (message: JsonObject, state: SessionState) => SessionState;
  /** Only asked until a client's message has named the model. */
  readonly readModelRequested: (message: JsonObject) => string | null;
  /** The session was closed: takes in what is left of a turn that was not over. */
  readonly finish: (state: SessionState) => SessionState;
}
