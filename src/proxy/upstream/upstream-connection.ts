/**
 * One connection to a provider, with one request at a time; it returns to its pool when both sides keep it. Bytes
 * between two calls kill it, so that they never become the next call's answer.
 */
import type { Socket } from 'node:net';
import type { InFlightRequest } from './in-flight-request.ts';
import { ResponseSyntaxError } from './response-head.ts';
import { ResponseParser } from './response-parser.ts';
import type { ConnectEvents } from './upstream-connector.ts';
import { describeDefect, UpstreamError } from './upstream-failure.ts';
import type { UpstreamLimits } from './upstream-limits.ts';

/** Smaller bodies are copied behind the head to leave as one block; larger ones use a gathering write. */
const JOINED_BODY_BYTES = 64 * 1024;

export interface ConnectionOwner {
  readonly limits: UpstreamLimits;
  /** Counts sweeps, as a clock that costs nothing to read. */
  readonly tick: number;
  release(connection: UpstreamConnection, keepAliveMs: number | null): void;
  /** It will be released shortly. */
  expectEnd(connection: UpstreamConnection): void;
  forget(connection: UpstreamConnection): void;
  /** Nothing of the call was sent. */
  sendAgain(call: InFlightRequest): void;
}

/** `onRead` gets a buffer that is reused after it returns. */
export type OpenSocket = (events: ConnectEvents, onRead: (bytes: Uint8Array, length: number) => void) => Socket;

export class UpstreamConnection {
  idleSinceMs = 0;
  idleUntilMs = 0;
  #call: InFlightRequest | null;
  #isReady = false;
  #isPaused = false;
  #isParsing = false;
  /** Received but not parsed yet: the parser was halted or is done. */
  #rest: Buffer | null = null;
  /** The provider has ended its side, or the socket is closed. */
  #isOver = false;
  #error: Error | null = null;
  readonly #parser = new ResponseParser();
  #socket: Socket;
  readonly #owner: ConnectionOwner;

  constructor(owner: ConnectionOwner, open: OpenSocket, call: InFlightRequest) {
    this.#owner = owner;
    this.#call = call;
    call.connection = this;
    const connectTimeout = setTimeout(
      () => this.#socket.destroy(new UpstreamError('CONNECT_TIMEOUT')),
      owner.limits.connectTimeoutMs,
    );
    const events: ConnectEvents = {
      onTunnel: (inner) => this.#listenTo(inner),
      onReady: () => {
        clearTimeout(connectTimeout);
        this.#isReady = true;
        if (this.#call !== null) this.begin(this.#call, false);
      },
    };
    const socket = open(events, (bytes, length) => this.#onData(bytes, length));
    this.#socket = socket;
    socket.once('close', () => {
      clearTimeout(connectTimeout);
      owner.forget(this);
    });
    this.#listenTo(socket);
  }

  #listenTo(socket: Socket): void {
    this.#socket = socket;
    socket.on('drain', () => this.#onDrain());
    socket.on('error', (error) => {
      this.#error = error;
    });
    // Once a tunnel is open, only the socket inside it counts.
    const onOver = (): void => {
      if (socket === this.#socket) this.#onOver();
    };
    socket.on('end', onOver);
    socket.once('close', onOver);
  }

  isUsable(nowMs: number): boolean {
    const socket = this.#socket;
    return !this.#isOver && !socket.destroyed && socket.writable && nowMs < this.idleUntilMs;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  begin(call: InFlightRequest, isReused: boolean): void {
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
    // The kernel refused the first write, so no byte has left.
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
    // Called during the hand-over: that loop continues by itself.
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

  /** The call was aborted or has failed. */
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

  /** Fails a call that made no progress, and closes a connection that was idle for too long. */
  sweep(nowMs: number): void {
    const call = this.#call;
    if (call === null) {
      if (nowMs >= this.idleUntilMs) this.#socket.destroy();
      return;
    }
    // A paused call waits for its client and a connecting one for its timer.
    if (this.#isPaused || !this.#isReady) return;
    const { limits, tick } = this.#owner;
    const { hasHead } = this.#parser;
    const quietMs = (tick - call.lastTick) * limits.sweepIntervalMs;
    if (quietMs <= (hasHead ? limits.idleTimeoutMs : limits.headersTimeoutMs)) return;
    call.fail(new UpstreamError(hasHead ? 'IDLE_TIMEOUT' : 'HEADERS_TIMEOUT'));
  }

  #write(socket: Socket, call: InFlightRequest): void {
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

  /** `received` is reused. Copying small packets costs less than a buffer and a stream event for each read. */
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

  #parse(call: InFlightRequest, bytes: Buffer): void {
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
    // After a refusal the provider needs no more of the body.
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

  #settle(call: InFlightRequest): void {
    const isWhole = this.#isReady && (this.#parser.isDone || (this.#error === null && this.#parser.finish()));
    if (isWhole) this.#complete(call);
    else call.fail(this.#error ?? new UpstreamError('ANSWER_CUT'));
  }

  #complete(call: InFlightRequest): void {
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

  #detach(call: InFlightRequest): void {
    call.connection = null;
    this.#call = null;
    this.#rest = null;
  }
}
