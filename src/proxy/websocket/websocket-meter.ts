/** Meters a websocket beside its relay: turns, usage, close frame, times, bytes, and transcripts of its text messages. */

import type { Turn } from '../../formats/usage/session.ts';
import { createSessionReader, type SessionNews } from '../../formats/usage/session-reader.ts';
import type { SessionName } from '../../providers/format-names.ts';
import type { CallFlag, ReportedUsage } from '../../vocabulary/token-usage.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import type { BodyCopy } from '../body-copy.ts';
import type { Arrival } from '../call-context.ts';
import { createTurnMeasures, type TurnMeasure, type TurnRecord } from './turn-measures.ts';
import { createWebsocketTap, type WebsocketClose } from './websocket-tap.ts';

const CHECKPOINT_INTERVAL_MS = 1_000;
/** Normal closure, going away, and no code (RFC 6455 7.4.1). */
const NORMAL_CODES: readonly number[] = [1000, 1001, 1005];
const OPEN_BRACE = 0x7b;
const LINE_END = Buffer.from('\n');

export interface WebsocketMeterOptions {
  readonly session: SessionName;
  readonly extensions: string | null;
  readonly requestCopy: BodyCopy;
  readonly responseCopy: BodyCopy;
  readonly createCopy: () => BodyCopy;
  readonly keepsTranscript: boolean;
  readonly arrivedMs: number;
  readonly noteArrival: () => Arrival;
  readonly openTurn: (turn: Turn, arrival: Arrival, request: Buffer | null) => TurnRecord;
  /** For what belongs to no turn. */
  readonly checkpoint: () => void;
}

export interface WebsocketMeter {
  readonly fromClient: (chunk: Buffer) => void;
  /** Resolves when the chunk was read, and the turns that it ends are recorded; null: at once. Never rejects. */
  readonly fromProvider: (chunk: Buffer) => Promise<void> | null;
  readonly mayHaveClosed: () => boolean;
  /** Resolves within a deadline when everything was read. */
  readonly finish: () => Promise<void>;
  /** Records the turns that are still open. */
  readonly endTurns: (readEnding: (measure: TurnMeasure) => AnswerEnding) => Promise<void>;
  /** Either side sent a close frame. */
  readonly sawClose: boolean;
  /** Who sent the first close frame; `unknown`: nobody, or it may have passed unread. */
  readonly closedFirst: 'client' | 'provider' | 'unknown';
  readonly isBlind: boolean;
  /** Every turn had its end, and there was one. */
  readonly isAnswered: boolean;
  /** Like all numbers below, of what belongs to no turn. */
  readonly reported: ReportedUsage;
  readonly modelRequested: string | null;
  readonly requestCopy: BodyCopy;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Of the connection, like the next one. */
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  /** The provider's close frame when it ended the session abnormally. */
  readonly refusedWith: WebsocketClose | null;
}

export function createWebsocketMeter(options: WebsocketMeterOptions): WebsocketMeter {
  const session = createSessionReader(options.session);
  const turns = createTurnMeasures({ ...options, session, openRecord });
  const clientFlags = new Set<CallFlag>();
  const providerFlags = new Set<CallFlag>();
  let firstByteMs: number | null = null;
  let firstTokenMs: number | null = null;
  /** A close frame is its side's last: whoever closed first did not send last. */
  let wasClientLast = false;
  let isFinished = false;
  let checkpointTimer: NodeJS.Timeout | null = null;
  let lastCheckpointMs = Number.NEGATIVE_INFINITY;

  const elapsedMs = (): number => performance.now() - options.arrivedMs;

  const clientTap = createWebsocketTap({
    isFromClient: true,
    extensions: options.extensions,
    onMessage: (data) => {
      if (data[0] !== OPEN_BRACE) return;
      transcribe(turns.requestCopy, data);
      turns.noteRequest(data);
      const news = session.pushClient(data);
      turns.takeRequestNews(news, data);
      noteFirstTurn(news);
    },
    onFlag: (flag) => clientFlags.add(flag),
  });
  const providerTap = createWebsocketTap({
    isFromClient: false,
    extensions: options.extensions,
    onMessage: (data) => {
      // Some providers send JSON as binary messages.
      if (data[0] !== OPEN_BRACE) return;
      if (firstTokenMs === null && session.hasContent(data)) firstTokenMs = elapsedMs();
      const news = session.pushServer(data);
      turns.takeAnswerNews(news, data, (copy) => transcribe(copy ?? options.responseCopy, data));
      noteFirstTurn(news);
      if (news.isOfSession) scheduleCheckpoint();
    },
    onFlag: (flag) => providerFlags.add(flag),
  });

  /** From here on the usage of the connection is in its turns, also if its process dies. */
  function noteFirstTurn({ begun }: SessionNews): void {
    if (begun.some(({ number }) => number === 1)) writeCheckpoint();
  }

  /** What was not read is missing in a turn that it cut. */
  function openRecord(turn: Turn, arrival: Arrival, request: Buffer | null): TurnRecord {
    const record = options.openTurn(turn, arrival, request);
    return {
      ...record,
      end: (ended, measure, ending) => {
        const reported = ended.reported.terminal ? ended.reported : withFlags(ended.reported, providerFlags);
        return record.end({ ...ended, reported }, measure, ending);
      },
    };
  }

  function transcribe(copy: BodyCopy, data: Buffer): void {
    if (!options.keepsTranscript || !session.isTranscribed(data)) return;
    copy.push(Buffer.concat([toLine(data), LINE_END]));
  }

  function scheduleCheckpoint(): void {
    if (checkpointTimer !== null || isFinished) return;
    const dueInMs = lastCheckpointMs + CHECKPOINT_INTERVAL_MS - elapsedMs();
    if (dueInMs <= 0) writeCheckpoint();
    else checkpointTimer = setTimeout(writeCheckpoint, dueInMs);
  }

  function writeCheckpoint(): void {
    checkpointTimer = null;
    lastCheckpointMs = elapsedMs();
    options.checkpoint();
  }

  async function settle(): Promise<void> {
    await providerTap.whenRead();
    await Promise.all(turns.recording);
  }

  function closedFirst(): 'client' | 'provider' | 'unknown' {
    // The order of reading says nothing, since decompression takes its time.
    if (providerTap.close !== null && (clientTap.close === null || wasClientLast)) return 'provider';
    if (providerFlags.size > 0) return 'unknown';
    return clientTap.close === null ? 'unknown' : 'client';
  }

  return {
    fromClient: (chunk) => {
      turns.noteRequestBytes(chunk.length);
      wasClientLast = true;
      clientTap.push(chunk);
    },
    fromProvider: (chunk) => {
      turns.noteAnswerBytes(chunk.length);
      wasClientLast = false;
      firstByteMs ??= elapsedMs();
      providerTap.push(chunk);
      return providerTap.isRead && turns.recording.size === 0 ? null : settle();
    },
    mayHaveClosed: () => clientTap.close !== null || providerTap.close !== null || !clientTap.isUpToDate,
    finish: async () => {
      await new Promise<void>((done) => clientTap.finish(done));
      await new Promise<void>((done) => providerTap.finish(done));
      isFinished = true;
      if (checkpointTimer !== null) clearTimeout(checkpointTimer);
      session.finish();
    },
    endTurns: turns.endOpen,
    get sawClose() {
      return clientTap.close !== null || providerTap.close !== null;
    },
    get closedFirst() {
      return closedFirst();
    },
    get isBlind() {
      return clientFlags.size + providerFlags.size > 0;
    },
    get isAnswered() {
      return turns.hasEnded && session.openTurns.length === 0;
    },
    get reported() {
      const { reported } = session;
      if (providerFlags.size === 0) return withFlags(reported, clientFlags);
      // Turns may have passed unread.
      const flags = reported.flags.filter((flag) => flag !== 'usage_in_turns');
      return withFlags({ ...reported, flags }, new Set([...clientFlags, ...providerFlags]));
    },
    get modelRequested() {
      return session.modelRequested;
    },
    get requestCopy() {
      return turns.requestCopy;
    },
    get requestBytes() {
      return turns.requestBytes;
    },
    get responseBytes() {
      return turns.responseBytes;
    },
    get firstByteMs() {
      return firstByteMs;
    },
    get firstTokenMs() {
      return firstTokenMs;
    },
    get refusedWith() {
      const { close } = providerTap;
      if (close === null || NORMAL_CODES.includes(close.code)) return null;
      return closedFirst() === 'provider' ? close : null;
    },
  };
}

function withFlags(reported: ReportedUsage, flags: ReadonlySet<CallFlag>): ReportedUsage {
  return flags.size === 0 ? reported : { ...reported, flags: [...new Set([...reported.flags, ...flags])] };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** In JSON, line ends occur only between tokens, where a space means the same. */
function toLine(data: Buffer): Buffer {
  if (!data.includes(LINE_FEED) && !data.includes(CARRIAGE_RETURN)) return data;
  const line = Buffer.from(data);
  for (const [index, byte] of line.entries()) {
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) line[index] = SPACE;
  }
  return line;
}
