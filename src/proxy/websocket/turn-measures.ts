/**
 * Measures the turns of a websocket as their messages pass, and tells their records: which message belongs to which turn,
 * since when it counts, and which bytes are its own. What belongs to no turn is the connection's.
 */

import type { Turn } from '../../formats/usage/session.ts';
import type { SessionNews, SessionReader } from '../../formats/usage/session-reader.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import type { BodyCopy } from '../body-copy.ts';
import type { Arrival } from '../call-context.ts';

/** Requests that wait for their turn; of more the time is not known. */
const MAX_ASKED = 64;

export interface TurnMeasure {
  readonly arrival: Arrival;
  readonly requestCopy: BodyCopy;
  readonly responseCopy: BodyCopy;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Times count from the arrival. */
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
}

/** The records of one turn. */
export interface TurnRecord {
  readonly checkpoint: (turn: Turn, measure: TurnMeasure) => void;
  /** Resolves when the record is spooled or given up; never rejects. */
  readonly end: (turn: Turn, measure: TurnMeasure, ending: AnswerEnding) => Promise<void>;
}

export interface TurnMeasuresOptions {
  readonly session: SessionReader;
  readonly noteArrival: () => Arrival;
  readonly createCopy: () => BodyCopy;
  /** Holds what the client says until a turn takes it. */
  readonly requestCopy: BodyCopy;
  /** `request`: the client's message that begins the turn; null where the provider begins it. */
  readonly openRecord: (turn: Turn, arrival: Arrival, request: Buffer | null) => TurnRecord;
}

interface OpenTurn {
  readonly measure: { -readonly [Name in keyof TurnMeasure]: TurnMeasure[Name] };
  readonly record: TurnRecord;
  isAnswered: boolean;
  usage: Turn['reported']['usage'];
}

export interface TurnMeasures {
  /** Call before the reader is given the message. */
  readonly noteRequest: (data: Buffer) => void;
  readonly noteRequestBytes: (bytes: number) => void;
  readonly noteAnswerBytes: (bytes: number) => void;
  readonly takeRequestNews: (news: SessionNews, data: Buffer) => void;
  /** Returns the copy of answers that the message belongs to; null: the connection's. Records what has ended. */
  readonly takeAnswerNews: (news: SessionNews, data: Buffer, keep: (copy: BodyCopy | null) => void) => void;
  readonly endOpen: (readEnding: (measure: TurnMeasure) => AnswerEnding) => Promise<void>;
  /** Records that are not spooled yet. */
  readonly recording: ReadonlySet<Promise<void>>;
  /** What no turn has taken. */
  readonly requestCopy: BodyCopy;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly hasEnded: boolean;
}

export function createTurnMeasures(options: TurnMeasuresOptions): TurnMeasures {
  const { session, noteArrival, createCopy, openRecord } = options;
  const open = new Map<number, OpenTurn>();
  const recording = new Set<Promise<void>>();
  let asked: Arrival[] = [];
  let { requestCopy } = options;
  // Bytes that came and that turns have not taken; of the answers also those from before the chunk that is read.
  let requestBytes = 0;
  let responseBytes = 0;
  let bytesBeforeChunk = 0;
  let connectionBytes = 0;
  let hasEnded = false;
  let lastError = session.reported.error;

  function begin(turn: Turn, request: Buffer | null): void {
    if (open.size === 0) {
      connectionBytes += bytesBeforeChunk;
      responseBytes -= bytesBeforeChunk;
      bytesBeforeChunk = 0;
    }
    const arrival = asked.shift() ?? noteArrival();
    const taken = { requestCopy, requestBytes, responseCopy: createCopy(), responseBytes: 0 };
    requestCopy = createCopy();
    requestBytes = 0;
    open.set(turn.number, {
      measure: { arrival, ...taken, firstByteMs: null, firstTokenMs: null },
      record: openRecord(turn, arrival, request),
      isAnswered: false,
      usage: null,
    });
  }

  /** Without a turn that is open nothing happens. */
  function end(turn: Turn, readEnding: (measure: TurnMeasure) => AnswerEnding): void {
    const found = open.get(turn.number);
    if (found === undefined) return;
    open.delete(turn.number);
    found.measure.responseBytes = responseBytes;
    responseBytes = 0;
    bytesBeforeChunk = 0;
    const spooled = found.record.end(turn, found.measure, readEnding(found.measure)).then(() => {
      found.measure.requestCopy.release();
      found.measure.responseCopy.release();
      recording.delete(spooled);
    });
    recording.add(spooled);
  }

  function checkpoint(turn: Turn): void {
    const found = open.get(turn.number);
    if (found === undefined || (found.isAnswered && found.usage === turn.reported.usage)) return;
    found.isAnswered = true;
    found.usage = turn.reported.usage;
    found.record.checkpoint(turn, found.measure);
  }

  function findTurn(news: SessionNews, data: Buffer): OpenTurn | undefined {
    const [named] = [...news.ended, ...news.begun, ...news.changed];
    if (named !== undefined) return open.get(named.number);
    const turns = session.openTurns;
    const sought = turns.length < 2 ? turns[0] : (turns.find((turn) => isNamed(turn, data)) ?? turns[0]);
    return sought === undefined ? undefined : open.get(sought.number);
  }

  function noteMessage(found: OpenTurn, data: Buffer): void {
    const { measure } = found;
    const elapsedMs = performance.now() - measure.arrival.monotonicMs;
    measure.firstByteMs ??= elapsedMs;
    if (measure.firstTokenMs === null && session.hasContent(data)) measure.firstTokenMs = elapsedMs;
  }

  return {
    noteRequest: (data) => {
      if (!session.asks(data)) return;
      if (!session.isSerial) {
        if (asked.length < MAX_ASKED) asked.push(noteArrival());
      } else if (open.size === 0) asked = [noteArrival()];
    },
    noteRequestBytes: (bytes) => {
      requestBytes += bytes;
    },
    noteAnswerBytes: (bytes) => {
      bytesBeforeChunk = responseBytes;
      responseBytes += bytes;
    },
    takeRequestNews: ({ begun }, data) => {
      bytesBeforeChunk = responseBytes;
      for (const turn of begun) begin(turn, data);
    },
    takeAnswerNews: (news, data, keep) => {
      for (const turn of news.begun) begin(turn, null);
      const { error } = session.reported;
      // Mostly it says that a request is wrong, which then has no turn.
      if (error !== lastError) asked.shift();
      lastError = error;
      const found = findTurn(news, data);
      if (found !== undefined) noteMessage(found, data);
      keep(found?.measure.responseCopy ?? null);
      for (const turn of [...news.begun, ...news.changed]) if (!news.ended.includes(turn)) checkpoint(turn);
      for (const turn of news.ended) end(turn, () => ({ kind: 'complete' }));
      if (news.ended.length > 0) hasEnded = true;
    },
    endOpen: async (readEnding) => {
      for (const turn of session.openTurns) end(turn, readEnding);
      await Promise.all(recording);
    },
    recording,
    get requestCopy() {
      return requestCopy;
    },
    get requestBytes() {
      return requestBytes;
    },
    get responseBytes() {
      return connectionBytes + responseBytes;
    },
    get hasEnded() {
      return hasEnded;
    },
  };
}

function isNamed({ responseId, lane }: Turn, data: Buffer): boolean {
  return (responseId !== null && data.includes(responseId)) || (lane !== null && data.includes(`"${lane}"`));
}
