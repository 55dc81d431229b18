/**
 * Reads the messages of one direction of a websocket from a copy of its bytes, while they pass. It is bounded, never
 * throws and never makes the relay wait: what it cannot read ends the reading, with a flag, and nothing else.
 */
import { extension, PerMessageDeflate, Receiver } from 'ws';
import type { CallFlag } from '../../token-usage.ts';
import { createGatheredBytes } from '../../wire/gathered-bytes.ts';

/** Of one message, compressed or not, and of what waits to be read. Larger ones end the reading. */
export const MAX_TAPPED_BYTES = 8 * 1024 * 1024;
const MAX_TAPPED_FRAGMENTS = 16 * 1024;
/** How long the end of a call waits for messages that are still being decompressed. */
const FINISH_DEADLINE_MS = 2_000;
const DEFLATE = 'permessage-deflate';

export interface WebsocketClose {
  readonly code: number;
  readonly reason: string;
}

export interface WebsocketTapOptions {
  /** Frames of a client are masked. */
  readonly isFromClient: boolean;
  /** `Sec-WebSocket-Extensions` of the provider's answer: what was agreed. */
  readonly extensions: string | null;
  readonly onMessage: (data: Buffer, isBinary: boolean) => void;
  readonly onClose?: (close: WebsocketClose) => void;
  readonly onFlag: (flag: CallFlag) => void;
}

export interface WebsocketTap {
  /** Bytes as they came; they are not changed. */
  readonly push: (chunk: Buffer) => void;
  /** Calls `done` once, when everything that was pushed has been read or the deadline is over. */
  readonly finish: (done: () => void) => void;
  /** The close frame, once it was read. */
  readonly close: WebsocketClose | null;
  /** False while something is still being read, or when reading has stopped: a close frame may have passed unseen. */
  readonly isUpToDate: boolean;
}

export function createWebsocketTap(options: WebsocketTapOptions): WebsocketTap {
  // Mutable because the bytes come piece by piece.
  let close: WebsocketClose | null = null;
  let isStopped = false;
  let unreadBytes = 0;
  /**
   * One piece at a time: of pieces that wait in the receiver itself it would read the next one behind an error, in a
   * state in which it throws where nobody catches.
   */
  const waiting = createGatheredBytes();
  let isReading = false;
  let endsWhenRead = false;
  const deflate = createDeflate(options);
  const receiver = new Receiver({
    isServer: options.isFromClient,
    maxPayload: MAX_TAPPED_BYTES,
    maxFragments: MAX_TAPPED_FRAGMENTS,
    skipUTF8Validation: true,
    ...(deflate instanceof PerMessageDeflate ? { extensions: { [DEFLATE]: deflate } } : {}),
  });
  if (deflate === 'unknown') stop('undecodable');

  function stop(flag: CallFlag): void {
    if (isStopped) return;
    isStopped = true;
    options.onFlag(flag);
    receiver.destroy();
  }

  function release(): void {
    isStopped = true;
    if (deflate instanceof PerMessageDeflate) deflate.cleanup();
  }

  function read(piece: Buffer): void {
    isReading = true;
    receiver.write(piece, (error) => {
      unreadBytes -= piece.length;
      // `isReading` stays: what comes now is not read any more, and the error is told by its event.
      if (error != null || isStopped) return;
      isReading = false;
      const next = waiting.take(null);
      if (next !== null && close === null && !receiver.writableEnded) read(next);
      else {
        if (next !== null) unreadBytes -= next.length;
        if (endsWhenRead) receiver.end();
      }
    });
  }

  receiver.on('message', (data, isBinary) => {
    if (isStopped) return;
    try {
      options.onMessage(data, isBinary);
    } catch {
      stop('undecodable');
    }
  });
  receiver.on('conclude', (code, reason) => {
    close = { code, reason: reason.toString() };
    options.onClose?.(close);
  });
  receiver.on('error', (error) => stop(isLimit(error) ? 'tap_limit' : 'undecodable'));

  return {
    push: (chunk) => {
      // What follows a close frame is no message any more.
      if (isStopped || close !== null || receiver.writableEnded) return;
      unreadBytes += chunk.length;
      if (unreadBytes > MAX_TAPPED_BYTES) {
        stop('tap_limit');
        return;
      }
      // Masked payloads are unmasked in place: not in the bytes that are passed on.
      const piece = options.isFromClient ? Buffer.from(chunk) : chunk;
      if (isReading) waiting.push(piece);
      else read(piece);
    },
    finish: (done) => {
      if (isStopped || unreadBytes === 0) {
        // Not while something is being decompressed: `ws` would wait for it for ever.
        if (!isStopped) release();
        done();
        return;
      }
      const deadline = setTimeout(() => {
        receiver.off('close', onRead);
        stop('tap_limit');
        done();
      }, FINISH_DEADLINE_MS);
      function onRead(): void {
        clearTimeout(deadline);
        release();
        done();
      }
      receiver.once('close', onRead);
      if (isReading) endsWhenRead = true;
      else receiver.end();
    },
    get close() {
      return close;
    },
    get isUpToDate() {
      return !isStopped && unreadBytes === 0;
    },
  };
}

/** Null when nothing was agreed on; `unknown` when what was agreed on cannot be read. */
function createDeflate(options: WebsocketTapOptions): PerMessageDeflate | 'unknown' | null {
  if (options.extensions === null || options.extensions.trim() === '') return null;
  try {
    const agreed = extension.parse(options.extensions);
    const parameters = agreed[DEFLATE];
    if (parameters === undefined || Object.keys(agreed).length !== 1) return 'unknown';
    // Reads as the side that receives these messages does.
    const deflate = new PerMessageDeflate({ isServer: options.isFromClient, maxPayload: MAX_TAPPED_BYTES });
    deflate.accept(parameters);
    return deflate;
  } catch {
    return 'unknown';
  }
}

function isLimit(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code.startsWith('WS_ERR_TOO_MANY');
}
