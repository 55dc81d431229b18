/** Runs HTTP/2 connections as sessions of `node:http2` with limits, and turns each stream into an exchange. */
import { constants, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { IdleSweep } from '../idle-sweep.ts';
import { type Http2Exchange, openHttp2Exchange } from './http2-exchange.ts';
import { readHttp2RequestHead } from './http2-request-head.ts';

/** Concurrent calls on one connection; further ones wait at the client. */
const MAX_CONCURRENT_STREAMS = 128;
/** Bounds what an unread body can hold; at 20 ms to the client it allows 50 MB a second. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** `node:http2` replenishes this as it reads, whatever the streams do. */
const SESSION_WINDOW_BYTES = 4 * 1024 * 1024;
/** Header tables, streams and unsent data of one session. */
const SESSION_MEMORY_MB = 64;
/** Heads up to this are read, and refused with 431; HTTP/2 counts 32 bytes more for each header. */
const READABLE_HEADER_BYTES = 128 * 1024;
const READABLE_HEADERS = 1_000;
/** The head of one answer; above the provider side's limit. */
const SENDABLE_HEADER_BYTES = 256 * 1024;
/** Rapid resets (CVE-2023-44487): a burst, then this many a second. */
const RESET_BURST = 1_000;
const RESETS_PER_SECOND = 33;
/** After this many a session ends. */
const MAX_INVALID_FRAMES = 1_000;
const MAX_REJECTED_STREAMS = 100;
const SETTINGS_TIMEOUT_MS = 10_000;
/** Accepts every stream that is on its way (RFC 9113 6.8). */
const LAST_STREAM = 2 ** 31 - 1;
/** Time to read the last answer after GOAWAY. */
const LINGER_MS = 1_000;

export interface Http2Limits {
  readonly firstRequestMs: number;
  readonly idleMs: number;
  readonly stalledMs: number;
  readonly stalledSweepMs: number;
}

export type Http2Handler = (exchange: Http2Exchange, headBytes: number) => void;

export class Http2Sessions {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #busy = new Set<ServerHttp2Session>();
  readonly #limits: Http2Limits;
  readonly #stalled: IdleSweep;
  #isEnding = false;

  constructor(limits: Http2Limits, handle: Http2Handler) {
    this.#limits = limits;
    this.#stalled = new IdleSweep(limits.stalledMs, limits.stalledSweepMs);
    // It never listens; connections are passed to it.
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
      // Repeated headers are passed on.
      strictSingleValueFields: false,
    });
    this.#server.on('session', (session) => this.#watch(session, handle));
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /**
   * Sends GOAWAY to sessions with open streams. nghttp2 stops reading a session without streams after a GOAWAY, so an
   * idle one ends with its next answer.
   */
  announceEnd(): void {
    this.#isEnding = true;
    for (const session of this.#busy) {
      if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
    }
  }

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
    // A session's own `setTimeout` would keep it alive even when closed.
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
      handle(openHttp2Exchange(stream, headers, head, this.#stalled, remoteAddress), head.headBytes);
    });
    session.setLocalWindowSize(SESSION_WINDOW_BYTES);
  }
}
