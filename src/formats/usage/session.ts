/**
 * The contract of a session format: how one websocket API's messages tell its turns and their usage. A turn is one
 * response, with usage of its own; what belongs to none is the session's. Functions return the state unchanged on
 * anything unexpected.
 */
import type { SessionName } from '../../providers/format-names.ts';
import type { CallFlag, JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import type { Grounding } from './gemini-usage.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

export interface Turn {
  /** Counts the turns of a session from 1. */
  readonly number: number;
  /** Turns of one lane are answered in order; null where the client names none. */
  readonly lane: string | null;
  /** The provider's id of the response; null until it says one. */
  readonly responseId: string | null;
  readonly modelRequested: string | null;
  /** `terminal` once the response is over. */
  readonly reported: ReportedUsage;
  /** The latest running total, which is not in `reported` yet. */
  readonly running: JsonObject | null;
  /** Of the running total. */
  readonly grounding: Grounding;
}

export interface SessionState {
  /** What belongs to no turn. */
  readonly reported: ReportedUsage;
  /** The first model that the client asks for in a message. */
  readonly modelRequested: string | null;
  /** The transcripts' model, billed apart. */
  readonly transcriptionModel: string | null;
  /** How many turns have begun. */
  readonly begun: number;
  /** Begun and not ended, the oldest first. */
  readonly open: readonly Turn[];
  /** Those that the latest message ended. */
  readonly ended: readonly Turn[];
}

export const EMPTY_SESSION: SessionState = Object.freeze({
  reported: NOTHING_REPORTED,
  modelRequested: null,
  transcriptionModel: null,
  begun: 0,
  open: [],
  ended: [],
});

export interface SessionFormat {
  readonly name: SessionName;
  /** Nothing outside turns is billed, so that a session without turns has cost nothing. */
  readonly billsTurnsAlone: boolean;
  /** One turn at a time: a request waits for the current turn's end. */
  readonly isSerial: boolean;
  /** Cheap byte test: may this message carry usage, a model, an error, or a turn's begin or end? */
  readonly mayMatter: (data: Buffer) => boolean;
  /** True for a message with content, which the time to the first token is measured by. */
  readonly hasContent: (data: Buffer) => boolean;
  /** True for a message with sound or pictures, which the transcript leaves out. */
  readonly hasMedia: (data: Buffer) => boolean;
  /** True for a client message that a turn answers, so that the turn's time counts from it. */
  readonly asks: (data: Buffer) => boolean;
  readonly readServer: (message: JsonObject, state: SessionState) => SessionState;
  /** Where a client message begins a turn. */
  readonly readRequest?: (data: Buffer, state: SessionState) => SessionState;
  /** Asked only until a client message has named the model. */
  readonly readModelRequested: (message: JsonObject) => string | null;
  /** Takes in what open turns reported when the session closes. They stay open. */
  readonly finish: (state: SessionState) => SessionState;
}

export interface TurnRequest {
  readonly lane: string | null;
  readonly modelRequested: string | null;
  readonly flags: readonly CallFlag[];
}
