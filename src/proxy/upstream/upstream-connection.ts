/**
 * One connection to a provider: writes one request at a time, reads its answer, hands it over, and goes back to its
 * pool when both sides keep it. Whatever comes on it between two calls kills it (an answer to nothing must not become
 * the next call's).
 */
import type { Socket } from 'node:net';
import { ResponseSyntaxError } from './response-head.ts';
import { ResponseParser } from './response-parser.ts';
import type { SentCall } from './sent-call.ts';
import { describeDefect, UpstreamError } from './upstream-failure.ts';
import type { UpstreamLimits } from './upstream-limits.ts';

/** A body up to this is copied behind its head, so that both leave as one block; a larger one by a gathering write. */
const JOINED_BODY_BYTES = 64 * 1024;

export interface ConnectionOwner {
  readonly limits: UpstreamLimits;
  /** Counts the sweeps: a clock that costs nothing to read. */
  readonly tick: number;
  release(connection: UpstreamConnection, keepAliveMs: number | null): void;
  /** It will be released in a moment. */
  expectEnd(connection: UpstreamConnection): void;
  /** The connection is gone. */
  forget(connection: UpstreamConnection): void;
  /** Nothing of the call was written. */
  sendAgain(call: SentCall): void;
}

/** Opens a socket that gives what it reads to `onRead`, in a buffer that is used again once it returns. */
export type OpenSocket = (onRead: (bytes: Uint8Array, length: number) => void) => Socket;

export class UpstreamConnection {
  /** Set while it is with the pool. */
  idleSinceMs = 0;
  idleUntilMs = 0;
  #call: SentCall | null;
  #isReady = false;
  #isPaused = false;
  #isParsing = false;
  /** Received, not handed over yet: the parser was halted, or it is behind the answer. */
  #rest: Buffer | null = null;
  /** The provider's side has ended, or everything has. */
  #isOver = false;
  #error: Error | null = null;
  readonly #parser = new ResponseParser();
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;

  /** `readyEvent` is the one after which the socket can be written to; the connection is made for `call`. */
  constructor(owner: ConnectionOwner, open: OpenSocket, readyEvent: 'connect' | 'secureConnect', call: SentCall) {
    const socket = open((bytes, length) => this.#onData(bytes, length));
    this.#owner = owner;
    this.#socket = socket;
    this.#call = call;
    call.connection = this;
    const connectTimeout = setTimeout(
      () => socket.destroy(new UpstreamError('CONNECT_TIMEOUT')),
      owner.limits.connectTimeoutMs,
    );
    socket.once(readyEvent, () => {
      clearTimeout(connectTimeout);
      this.#isReady = true;
      if (this.#call !== null) this.begin(this.#call, false);
    });
    socket.on('drain', () => this.#onDrain());
    socket.on('end', () => this.#onOver());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', () => {
      clearTimeout(connectTimeout);
      owner.forget(this);
      this.#onOver();
    });
  }

  /** Can be given a call. */
  isUsable(nowMs: number): boolean {
    const socket = this.#socket;
    return !this.#isOver && !socket.destroyed && socket.writable && nowMs < this.idleUntilMs;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  begin(call: SentCall, isReused: boolean): void {
    this.#call = call;
    this.#isPaused = false;
    this.#rest = null;
    call.connection = this;
    call.lastTick = this.#owner.tick;
    this.#parser.start(call.isHeadRequest, call.events);
    call.events.onConnection(isReused);
    if (this.#call !== call) return;
    const socket = this.#socket;
    this.#write(socket, call);
    // The kernel refused the first write at once: not a byte of the request has left.
    if (socket.errored !== null && isReused && !call.isSentAgain) {
      this.#detach(call);
      call.isSentAgain = true;
      this.#owner.sendAgain(call);
      return;
    }
    call.body?.start(socket);
  }

  pause(): void {
    if (this.#call === null || !this.#isReady || this.#isPaused) return;
    this.#isPaused = true;
    this.#parser.isHalted = true;
    this.#socket.pause();
  }

  resume(): void {
    const call = this.#call;
    if (call === null || !this.#isPaused) return;
    this.#isPaused = false;
    this.#parser.isHalted = false;
    this.noteProgress();
    if (!this.#isOver) this.#socket.resume();
    // Called while bytes are being handed over: that loop goes on by itself.
    if (this.#isParsing) return;
    const rest = this.#rest;
    if (this.#parser.isDone) {
      this.#complete(call);
    } else if (rest !== null) {
      this.#rest = null;
      this.#parse(call, rest);
    }
    if (this.#isOver && this.#call === call && !this.#isPaused) this.#settle(call);
  }

  /** The call was aborted or has failed: nothing more of it is wanted. */
  drop(): void {
    if (this.#call !== null) this.#detach(this.#call);
    this.#parser.isHalted = true;
    this.#socket.destroy();
  }

  expectEnd(): void {
    if (this.#call !== null && this.#isReady) this.#owner.expectEnd(this);
  }

  noteProgress(): void {
    if (this.#call !== null) this.#call.lastTick = this.#owner.tick;
  }

  /** Ends a call in which nothing moved for too long, and a connection that nobody needed for long enough. */
  sweep(nowMs: number): void {
    const call = this.#call;
    if (call === null) {
      if (nowMs >= this.idleUntilMs) this.#socket.destroy();
      return;
    }
    // A paused call waits for its client, which has a limit of its own; a connecting one has its timer.
    if (this.#isPaused || !this.#isReady) return;
    const { limits, tick } = this.#owner;
    const { hasHead } = this.#parser;
    const quietMs = (tick - call.lastTick) * limits.sweepIntervalMs;
    if (quietMs <= (hasHead ? limits.idleTimeoutMs : limits.headersTimeoutMs)) return;
    call.fail(new UpstreamError(hasHead ? 'IDLE_TIMEOUT' : 'HEADERS_TIMEOUT'));
  }

  #write(socket: Socket, call: SentCall): void {
    const { head, bytes } = call;
    if (bytes === null || bytes.length === 0) {
      socket.write(head, 'latin1');
    } else if (bytes.length <= JOINED_BODY_BYTES) {
      const joined = Buffer.allocUnsafe(head.length + bytes.length);
      joined.write(head, 0, 'latin1');
      joined.set(bytes, head.length);
      socket.write(joined);
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(bytes);
      socket.uncork();
    }
  }

  /**
   * `received` is used again for the next read, of any connection. What is passed on is a copy: for the small packets
   * that answers come in it costs less than a buffer and a stream event for each read.
   */
  #onData(received: Uint8Array, length: number): void {
    const call = this.#call;
    if (call === null) {
      this.#socket.destroy();
      return;
    }
    call.lastTick = this.#owner.tick;
    const chunk = Buffer.allocUnsafe(length);
    chunk.set(length === received.length ? received : received.subarray(0, length));
    if (this.#rest === null) this.#parse(call, chunk);
    else this.#rest = Buffer.concat([this.#rest, chunk]);
  }

  #parse(call: SentCall, bytes: Buffer): void {
    const parser = this.#parser;
    let at = 0;
    this.#isParsing = true;
    try {
      at = parser.push(bytes);
    } catch (error) {
      this.#isParsing = false;
      if (error instanceof ResponseSyntaxError) call.fail(error);
      else call.failAs(describeDefect(error));
      return;
    }
    this.#isParsing = false;
    if (this.#call !== call) return;
    if (at < bytes.length) this.#rest = bytes.subarray(at);
    // Refused or redirected before the body was whole: the rest of it is of no use to the provider.
    if (call.body !== null && parser.status >= 300) call.body.stop();
    if (parser.isDone && !this.#isPaused) this.#complete(call);
  }

  #onDrain(): void {
    this.noteProgress();
    this.#call?.body?.onDrain();
  }

  #onOver(): void {
    this.#isOver = true;
    if (this.#call === null) this.#socket.destroy();
    else if (!this.#isPaused) this.#settle(this.#call);
  }

  /** No more bytes will come. */
  #settle(call: SentCall): void {
    const isWhole = this.#isReady && (this.#parser.isDone || (this.#error === null && this.#parser.finish()));
    if (isWhole) this.#complete(call);
    else call.fail(this.#error ?? new UpstreamError('ANSWER_CUT'));
  }

  #complete(call: SentCall): void {
    const socket = this.#socket;
    const parser = this.#parser;
    const isKept =
      parser.isKeptAlive &&
      this.#rest === null &&
      (call.body === null || call.body.isSent) &&
      socket.writableLength === 0 &&
      !this.#isOver &&
      !socket.destroyed;
    this.#detach(call);
    if (isKept) this.#owner.release(this, parser.keepAliveMs);
    else socket.destroy();
    call.end();
  }

  #detach(call: SentCall): void {
    call.connection = null;
    this.#call = null;
    this.#rest = null;
  }
}
