/**
 * What is read of a websocket beside its relaying: usage and its growth, the close frame, the time of the first
 * content, the bytes of both sides, and the transcript for the log: its text messages, one a line, without sound and
 * pictures. Invisible to both sides.
 */

import type { SessionName } from '../../shapes/session.ts';
import { createSessionReader } from '../../shapes/session-reader.ts';
import type { CallFlag, UsageReading } from '../../token-usage.ts';
import type { BodyCopy } from '../body-copy.ts';
import { createWebsocketTap, type WebsocketClose } from './websocket-tap.ts';

/** Between two checkpoints of one session. */
const CHECKPOINT_INTERVAL_MS = 1_000;
/** Normal closure, going away, and no code at all (RFC 6455 7.4.1). */
const NORMAL_CODES: readonly number[] = [1000, 1001, 1005];
const OPEN_BRACE = 0x7b;
const LINE_END = Buffer.from('\n');

export interface WebsocketMeterOptions {
  readonly session: SessionName;
  /** `Sec-WebSocket-Extensions` of the provider's answer. */
  readonly extensions: string | null;
  readonly requestCopy: BodyCopy;
  readonly responseCopy: BodyCopy;
  readonly keepsTranscript: boolean;
  /** Monotonic time at which the call arrived. */
  readonly arrivedMs: number;
  readonly checkpoint: () => void;
}

export interface WebsocketMeter {
  readonly fromClient: (chunk: Buffer) => void;
  readonly fromProvider: (chunk: Buffer) => void;
  readonly mayHaveClosed: () => boolean;
  /** Resolves within a deadline, when everything that passed has been read. */
  readonly finish: () => Promise<void>;
  /** A close frame was seen, of whichever side. */
  readonly sawClose: boolean;
  /** True when a close frame may have passed unseen. */
  readonly isBlind: boolean;
  readonly reading: UsageReading;
  readonly modelRequested: string | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  /** The provider ended the session, and not because it was over. */
  readonly refusedWith: WebsocketClose | null;
}

export function createWebsocketMeter(options: WebsocketMeterOptions): WebsocketMeter {
  const session = createSessionReader(options.session);
  const flags = new Set<CallFlag>();
  // Mutable because the bytes come piece by piece.
  let requestBytes = 0;
  let responseBytes = 0;
  let firstByteMs: number | null = null;
  let firstTokenMs: number | null = null;
  /** A close frame is the last thing that its side sends: who closed first has not spoken last. */
  let wasClientLast = false;
  let isFinished = false;
  let checkpointTimer: NodeJS.Timeout | null = null;
  let lastCheckpointMs = Number.NEGATIVE_INFINITY;

  const elapsedMs = (): number => performance.now() - options.arrivedMs;
  const onFlag = (flag: CallFlag): void => void flags.add(flag);

  const clientTap = createWebsocketTap({
    isFromClient: true,
    extensions: options.extensions,
    onMessage: (data) => {
      if (data[0] !== OPEN_BRACE) return;
      session.pushClient(data);
      transcribe(options.requestCopy, data);
    },
    onFlag,
  });
  const providerTap = createWebsocketTap({
    isFromClient: false,
    extensions: options.extensions,
    onMessage: (data) => {
      // Some providers send their JSON as binary messages.
      if (data[0] !== OPEN_BRACE) return;
      const hasNews = session.pushServer(data);
      if (firstTokenMs === null && session.sawContent) firstTokenMs = elapsedMs();
      transcribe(options.responseCopy, data);
      if (hasNews) scheduleCheckpoint();
    },
    onFlag,
  });

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

  return {
    fromClient: (chunk) => {
      requestBytes += chunk.length;
      wasClientLast = true;
      clientTap.push(chunk);
    },
    fromProvider: (chunk) => {
      responseBytes += chunk.length;
      wasClientLast = false;
      firstByteMs ??= elapsedMs();
      providerTap.push(chunk);
    },
    mayHaveClosed: () => clientTap.close !== null || providerTap.close !== null || !clientTap.isUpToDate,
    finish: async () => {
      isFinished = true;
      if (checkpointTimer !== null) clearTimeout(checkpointTimer);
      await Promise.all([clientTap, providerTap].map((tap) => new Promise<void>((resolve) => tap.finish(resolve))));
      session.finish();
    },
    get sawClose() {
      return clientTap.close !== null || providerTap.close !== null;
    },
    get isBlind() {
      return flags.size > 0;
    },
    get reading() {
      const { reading } = session;
      return flags.size === 0 ? reading : { ...reading, flags: [...new Set([...reading.flags, ...flags])] };
    },
    get modelRequested() {
      return session.modelRequested;
    },
    get requestBytes() {
      return requestBytes;
    },
    get responseBytes() {
      return responseBytes;
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
      // Each side is read as fast as it can be decompressed: which close frame was read first says nothing.
      return clientTap.close === null || wasClientLast ? close : null;
    },
  };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Line ends stand only between the parts of a JSON text, where a space means the same. */
function toLine(data: Buffer): Buffer {
  if (!data.includes(LINE_FEED) && !data.includes(CARRIAGE_RETURN)) return data;
  const line = Buffer.from(data);
  for (const [index, byte] of line.entries()) {
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) line[index] = SPACE;
  }
  return line;
}
