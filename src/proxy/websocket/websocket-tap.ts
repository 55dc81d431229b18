/** Reads one direction's messages from a copy of its bytes, bounded. Stops with a flag at what it cannot read. */
import { extension, PerMessageDeflate, Receiver } from 'ws';
import { createGatheredBytes } from '../../formats/wire/gathered-bytes.ts';
import type { CallFlag } from '../../vocabulary/token-usage.ts';

/** Limit of one message, compressed or not, and of unread bytes. */
export const MAX_TAPPED_BYTES = 8 * 1024 * 1024;
const MAX_TAPPED_FRAGMENTS = 16 * 1024;
/** How long a call's end waits for decompression. */
const FINISH_DEADLINE_MS = 2_000;
const DEFLATE = 'permessage-deflate';

export interface WebsocketClose {
  readonly code: number;
  readonly reason: string;
}

export interface WebsocketTapOptions {
  readonly isFromClient: boolean;
  /** `Sec-WebSocket-Extensions` of the provider's answer. */
  readonly extensions: string | null;
  readonly onMessage: (data: Buffer, isBinary: boolean) => void;
  readonly onClose?: (close: WebsocketClose) => void;
  readonly onFlag: (flag: CallFlag) => void;
}

export interface WebsocketTap {
  /** The bytes are not changed. */
  readonly push: (chunk: Buffer) => void;
  /** Calls `done` once, when everything was read or the deadline is over. */
  readonly finish: (done: () => void) => void;
  readonly close: WebsocketClose | null;
  /** False while reading, or after it stopped: a close frame may have passed unseen. */
  readonly isUpToDate: boolean;
  /** True when nothing more is read of what was pushed. */
  readonly isRead: boolean;
  /** Resolves when that is so. */
  readonly whenRead: () => Promise<void>;
}

export function createWebsocketTap(options: WebsocketTapOptions): WebsocketTap {
  let close: WebsocketClose | null = null;
  let isStopped = false;
  let unreadBytes = 0;
  /** One piece at a time: after an error the receiver would read a queued piece and throw where nobody catches. */
  const waiting = createGatheredBytes();
  let isReading = false;
  let endsWhenRead = false;
  const readers: (() => void)[] = [];
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
    wakeReaders();
  }

  function wakeReaders(): void {
    for (const wake of readers.splice(0)) wake();
  }

  function release(): void {
    isStopped = true;
    if (deflate instanceof PerMessageDeflate) deflate.cleanup();
    wakeReaders();
  }

  function read(piece: Buffer): void {
    isReading = true;
    receiver.write(piece, (error) => {
      unreadBytes -= piece.length;
      // `isReading` stays set: nothing more is read, and the error event reports it.
      if (error != null || isStopped) return;
      isReading = false;
      const next = waiting.take(null);
      if (next !== null && close === null && !receiver.writableEnded) read(next);
      else {
        if (next !== null) unreadBytes -= next.length;
        if (endsWhenRead) receiver.end();
        wakeReaders();
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
      // Nothing after a close frame is a message.
      if (isStopped || close !== null || receiver.writableEnded) return;
      unreadBytes += chunk.length;
      if (unreadBytes > MAX_TAPPED_BYTES) {
        stop('tap_limit');
        return;
      }
      // The receiver unmasks in place; the relayed bytes must stay masked.
      const piece = options.isFromClient ? Buffer.from(chunk) : chunk;
      if (isReading) waiting.push(piece);
      else read(piece);
    },
    finish: (done) => {
      if (isStopped || unreadBytes === 0) {
        // Releasing during decompression would make `ws` wait for ever.
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
    get isRead() {
      return isStopped || !isReading;
    },
    whenRead: () =>
      isStopped || !isReading ? Promise.resolve() : new Promise((resolve) => void readers.push(resolve)),
  };
}

/** Null without an agreed extension; `unknown` when it cannot be read. */
function createDeflate(options: WebsocketTapOptions): PerMessageDeflate | 'unknown' | null {
  if (options.extensions === null || options.extensions.trim() === '') return null;
  try {
    const agreed = extension.parse(options.extensions);
    const parameters = agreed[DEFLATE];
    if (parameters === undefined || Object.keys(agreed).length !== 1) return 'unknown';
    // Takes the side that receives these messages.
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
