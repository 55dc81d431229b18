/** One websocket handshake on its own connection: hands the connection over on 101, else an ordinary answer. */
import type { Socket } from 'node:net';
import { ResponseSyntaxError, readResponseHead } from './response-head.ts';
import { ResponseParser } from './response-parser.ts';
import type { UpgradeEvents, UpstreamCall, UpstreamRequest } from './upstream.ts';
import type { UpstreamConnector } from './upstream-connector.ts';
import { describeDefect, describeFailure, UpstreamError } from './upstream-failure.ts';
import type { UpstreamLimits } from './upstream-limits.ts';
import { writeRequestHead } from './upstream-request.ts';

/** Limit of the answer's head and what follows in the same packet. */
const MAX_HELD_BYTES = 256 * 1024;
const HEAD_END = '\r\n\r\n';
const SWITCHING_PROTOCOLS = 101;
const NO_BYTES: Buffer = Buffer.alloc(0);

export class UpstreamHandshake implements UpstreamCall {
  readonly #connector: UpstreamConnector;
  readonly #limits: UpstreamLimits;
  readonly #request: UpstreamRequest;
  readonly #events: UpgradeEvents;
  readonly #onOver: () => void;
  readonly #parser = new ResponseParser();
  #socket: Socket | null = null;
  #connectTimeout: NodeJS.Timeout | null = null;
  /** Unparsed bytes: an incomplete head, or what a pause kept back. */
  #held = NO_BYTES;
  #isRefused = false;
  #isPaused = false;
  #isParsing = false;
  #hasProviderEnded = false;
  #error: Error | null = null;
  #isEnded = false;

  constructor(
    connector: UpstreamConnector,
    limits: UpstreamLimits,
    request: UpstreamRequest,
    events: UpgradeEvents,
    onOver: () => void,
  ) {
    this.#connector = connector;
    this.#limits = limits;
    this.#request = request;
    this.#events = events;
    this.#onOver = onOver;
  }

  start(): void {
    let head = '';
    try {
      head = writeRequestHead(
        this.#request,
        this.#connector.createHop('Connection: Upgrade\r\nUpgrade: websocket\r\n'),
      );
    } catch (error) {
      this.fail(error instanceof Error ? error : new UpstreamError('REQUEST_UNSENDABLE'));
      return;
    }
    this.#connectTimeout = setTimeout(
      () => this.fail(new UpstreamError('CONNECT_TIMEOUT')),
      this.#limits.connectTimeoutMs,
    );
    const socket = this.#connector.open(true, {
      onTunnel: (inner) => this.#listenTo(inner),
      onReady: () => {
        this.#stopConnectTimeout();
        this.#socket?.on('data', this.#onData);
        this.#socket?.setTimeout(this.#limits.headersTimeoutMs);
        this.#events.onConnection(false);
        this.#socket?.write(head, 'latin1');
      },
    });
    this.#listenTo(socket);
  }

  #listenTo(socket: Socket): void {
    this.#socket = socket;
    socket.on('timeout', () => this.fail(new UpstreamError(this.#isRefused ? 'IDLE_TIMEOUT' : 'HEADERS_TIMEOUT')));
    socket.on('error', (error) => {
      this.#error = error;
    });
    // Once a tunnel is open, only the socket inside it counts.
    const onEnd = (): void => {
      if (socket === this.#socket) this.#onProviderEnd();
    };
    socket.once('end', onEnd);
    socket.once('close', onEnd);
  }

  abort(): void {
    this.#end();
  }

  fail(error: Error): void {
    if (this.#end()) this.#events.onFailure(describeFailure(error));
  }

  pause(): void {
    if (this.#isEnded || this.#isPaused) return;
    this.#isPaused = true;
    this.#parser.isHalted = true;
    this.#socket?.pause();
    // A paused call waits for its client, which has its own limit.
    this.#socket?.setTimeout(0);
  }

  resume(): void {
    if (this.#isEnded || !this.#isPaused) return;
    this.#isPaused = false;
    this.#parser.isHalted = false;
    this.#socket?.resume();
    this.#socket?.setTimeout(this.#limits.idleTimeoutMs);
    // Called during the hand-over: that loop continues by itself.
    if (!this.#isParsing) this.#parse();
  }

  /** Does nothing: the connection is never pooled. */
  expectEnd(): void {}

  #end(): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#stopConnectTimeout();
    this.#socket?.destroy();
    this.#onOver();
    return true;
  }

  #stopConnectTimeout(): void {
    if (this.#connectTimeout !== null) clearTimeout(this.#connectTimeout);
    this.#connectTimeout = null;
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isEnded) return;
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    try {
      if (!this.#isRefused) this.#readHead();
    } catch (error) {
      this.fail(error instanceof Error ? error : new ResponseSyntaxError('ANSWER_HEADER'));
    }
    if (this.#isRefused) this.#parse();
  };

  /** Drops interim answers; the first final head decides. */
  #readHead(): void {
    while (!this.#isEnded && !this.#isRefused) {
      const end = this.#held.indexOf(HEAD_END, 0, 'latin1');
      if (end === -1) {
        if (this.#held.length > MAX_HELD_BYTES) throw new ResponseSyntaxError('ANSWER_HEADERS_TOO_LARGE');
        return;
      }
      const head = readResponseHead(this.#held.toString('latin1', 0, end));
      const behind = this.#held.subarray(end + HEAD_END.length);
      if (head.status === SWITCHING_PROTOCOLS) this.#switch(head.reason, head.rawHeaders, behind);
      else if (head.status < 200) this.#held = behind;
      else {
        this.#isRefused = true;
        this.#socket?.setTimeout(this.#limits.idleTimeoutMs);
        this.#parser.start(false, this.#events);
      }
    }
  }

  #switch(reason: string, rawHeaders: string[], rest: Buffer): void {
    const socket = this.#socket;
    this.#isEnded = true;
    this.#onOver();
    if (socket === null) return;
    socket.setTimeout(0);
    socket.pause();
    // The other listeners do nothing after the end.
    socket.off('data', this.#onData);
    this.#events.onSwitch(reason, rawHeaders, socket, rest);
  }

  #parse(): void {
    if (!this.#isRefused || this.#isEnded) return;
    const bytes = this.#held;
    this.#isParsing = true;
    try {
      this.#held = bytes.subarray(this.#parser.push(bytes));
    } catch (error) {
      if (error instanceof ResponseSyntaxError) this.fail(error);
      else if (this.#end()) this.#events.onFailure(describeDefect(error));
      return;
    } finally {
      this.#isParsing = false;
    }
    if (this.#isPaused) return;
    if (this.#parser.isDone) this.#complete();
    else if (this.#hasProviderEnded) this.#settle();
  }

  #onProviderEnd(): void {
    this.#hasProviderEnded = true;
    if (!this.#isPaused && !this.#isEnded) this.#settle();
  }

  #settle(): void {
    if (this.#isRefused && this.#error === null && this.#parser.finish()) this.#complete();
    else this.fail(this.#error ?? new UpstreamError('ANSWER_CUT'));
  }

  #complete(): void {
    if (this.#end()) this.#events.onEnd();
  }
}
