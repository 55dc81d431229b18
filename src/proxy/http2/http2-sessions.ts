/**
 * The HTTP/2 side of the listener: connections that `node:http` handed over, as sessions of `node:http2` with limits of
 * their own. Each stream becomes an exchange for the same path that HTTP/1.1 calls take; it knows nothing of calls.
 */
import { constants, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { IdleSweep } from '../idle-sweep.ts';
import { type Http2Exchange, openHttp2Exchange } from './http2-exchange.ts';
import { readHttp2RequestHead } from './http2-request-head.ts';

/** Calls at once on one connection; further ones wait at the client. */
const MAX_CONCURRENT_STREAMS = 128;
/**
 * A body that is not taken may fill this; together with the streams the bound on what one connection can make us hold.
 * At 20 ms from the client it allows 50 MB a second.
 */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** What is on its way on one connection; `node:http2` gives it free as it reads, whatever the streams do. */
const SESSION_WINDOW_BYTES = 4 * 1024 * 1024;
/** For one session: header tables, streams, and what waits to be sent. */
const SESSION_MEMORY_MB = 64;
/** What is still read, to be refused with 431; above, the stream is reset. HTTP/2 counts 32 bytes more for each header. */
const READABLE_HEADER_BYTES = 128 * 1024;
const READABLE_HEADERS = 1_000;
/** Of one answer; beyond what the provider's side accepts. */
const SENDABLE_HEADER_BYTES = 256 * 1024;
/** Streams that a client opens and resets at once (CVE-2023-44487): so many, and then so many a second. */
const RESET_BURST = 1_000;
const RESETS_PER_SECOND = 33;
/** Malformed frames and refused streams after which a session ends. */
const MAX_INVALID_FRAMES = 1_000;
const MAX_REJECTED_STREAMS = 100;
const SETTINGS_TIMEOUT_MS = 10_000;
/** Promises to take every stream that is on its way (RFC 9113 6.8). */
const LAST_STREAM = 2 ** 31 - 1;
/** For a client that was told so to read its last answer. */
const LINGER_MS = 1_000;

export interface Http2Limits {
  /** For a connection that sends no request. */
  readonly firstRequestMs: number;
  /** For a connection without an open call. */
  readonly idleMs: number;
  /** For a client to take a whole answer that waits for it. */
  readonly unreadMs: number;
  readonly unreadSweepMs: number;
}

export type Http2Handler = (exchange: Http2Exchange, headBytes: number) => void;

export class Http2Sessions {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Those with open streams. */
  readonly #busy = new Set<ServerHttp2Session>();
  readonly #limits: Http2Limits;
  readonly #unread: IdleSweep;
  #isEnding = false;

  constructor(limits: Http2Limits, handle: Http2Handler) {
    this.#limits = limits;
    this.#unread = new IdleSweep(limits.unreadMs, limits.unreadSweepMs);
    // It never listens: its connections are given to it.
    this.#server = createServer({
      settings: {
        maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: READABLE_HEADER_BYTES,
      },
      maxSessionMemory: SESSION_MEMORY_MB,
      maxHeaderListPairs: READABLE_HEADERS,
      maxSendHeaderBlockLength: SENDABLE_HEADER_BYTES,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
      streamResetBurst: RESET_BURST,
      streamResetRate: RESETS_PER_SECOND,
      // A header that comes twice is passed on twice.
      strictSingleValueFields: false,
    });
    this.#server.on('session', (session) => this.#watch(session, handle));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** `socket` as `takeHttp2Socket` leaves it. */
  add(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /**
   * Says that the gateway is stopping, and still takes what is on its way. Not where no stream is open: nghttp2 reads
   * nothing any more from a session that was told so and has none, neither a request nor the client's end. Such a
   * session ends with its next answer.
   */
  announceEnd(): void {
    this.#isEnding = true;
    for (const session of this.#busy) {
      if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
    }
  }

  /** Takes no further streams; those that are open end by themselves. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #watch(session: ServerHttp2Session, handle: Http2Handler): void {
    this.#sessions.add(session);
    const { remoteAddress } = session.socket;
    let openStreams = 0;
    // Timers of our own: a session's `setTimeout` holds it for that long, also when it is closed.
    let idle = setTimeout(() => session.close(), this.#limits.firstRequestMs);
    const settings = setTimeout(
      () => session.destroy(undefined, constants.NGHTTP2_SETTINGS_TIMEOUT),
      SETTINGS_TIMEOUT_MS,
    );
    session.once('localSettings', () => clearTimeout(settings));
    session.once('close', () => {
      clearTimeout(idle);
      clearTimeout(settings);
      this.#sessions.delete(session);
      this.#busy.delete(session);
    });
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      openStreams += 1;
      this.#busy.add(session);
      clearTimeout(idle); // A call may be silent for longer; its own limits watch it.
      stream.once('close', () => {
        openStreams -= 1;
        if (openStreams > 0 || session.destroyed) return;
        this.#busy.delete(session);
        idle = setTimeout(() => session.close(), this.#isEnding ? LINGER_MS : this.#limits.idleMs);
      });
      const head = readHttp2RequestHead(rawHeaders, !stream.endAfterHeaders);
      handle(openHttp2Exchange(stream, headers, head, this.#unread, remoteAddress), head.headBytes);
    });
    session.setLocalWindowSize(SESSION_WINDOW_BYTES);
  }
}
