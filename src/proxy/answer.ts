/**
 * Passes the provider's answer to the client as it comes, with back-pressure and a copy to the tap. The last byte waits
 * for `release`, so that the record is written first; bytes with usage or the stream's ending wait for a checkpoint. An
 * answer ends exactly once.
 */
import type { UsageReader } from '../formats/usage/usage-reader.ts';
import type { ReportedUsage } from '../vocabulary/token-usage.ts';
import { type AnswerEnding, isWhole } from './answer-ending.ts';
import { AnswerHead, dropNamed, headersForClient, trailersForClient } from './answer-head.ts';
import { breakConnection } from './break-connection.ts';
import type { CallContext } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import { CheckpointThrottle } from './checkpoint-throttle.ts';
import type { ClientResponse } from './client-exchange.ts';
import { ClientShare } from './client-share.ts';
import { ClientStall } from './client-stall.ts';
import type { AnswerSummary } from './describe-end.ts';
import type { Gateway } from './gateway.ts';
import { isStream, type KeyEnd } from './key-end.ts';
import { type AnswerEditor, leadHeadersBack } from './lead-back.ts';
import { refuseRedirect } from './leading-address.ts';
import { ReadOn } from './read-on.ts';
import { tapAnswer } from './tap-answer.ts';
import type { UpstreamCall, UpstreamEvents } from './upstream/upstream.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** With `on_client_abort=drain`: how long an answer is read after its client has left. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;

const EMPTY = Buffer.alloc(0);

export interface AnswerOptions {
  /** The gateway asked for usage, which the client must not see. */
  readonly isAsked: boolean;
  /** A websocket's handshake: the answer always ends with its key and is never drained. */
  readonly isHandshake: boolean;
}

export class Answer implements UpstreamEvents, AnswerSummary {
  readonly ended: Promise<AnswerEnding>;
  head: AnswerHead | null = null;
  responseBytes = 0;
  /** A connection to the provider was there, so that it may have got the call. */
  wasConnected = false;
  connectMs: number | null = null;
  headersMs: number | null = null;
  firstByteMs: number | null = null;
  firstTokenMs: number | null = null;
  readonly #outgoing: ClientResponse;
  readonly #call: CallContext;
  readonly #log: CallLog;
  readonly #gateway: Gateway;
  readonly #options: AnswerOptions;
  readonly #throttle = new CheckpointThrottle();
  readonly #stall: ClientStall;
  #resolveEnded: (ending: AnswerEnding) => void = () => {};
  #upstream: UpstreamCall | null = null;
  #reader: UsageReader | null = null;
  #editor: AnswerEditor | null = null;
  #reported: ReportedUsage | null = null;
  #ending: AnswerEnding | null = null;
  #hasDeclaredLength = false;
  /** Bytes left of a body of declared length; null when the ending is a separate mark. */
  #remainingBytes: number | null = null;
  #lastChunk: Buffer | null = null;
  #trailers: readonly [string, string][] | null = null;
  /** Chunks held while a checkpoint is written; null when none is. */
  #waiting: Buffer[] | null = null;
  #endsAfterCheckpoint: AnswerEnding | null = null;
  readonly #client = new ClientShare();
  #readOn: ReadOn | null = null;
  #isHeadRefused = false;
  #isHeadFlushed = false;
  #drainLimit: NodeJS.Timeout | null = null;

  constructor(outgoing: ClientResponse, call: CallContext, log: CallLog, gateway: Gateway, options: AnswerOptions) {
    this.#outgoing = outgoing;
    this.#call = call;
    this.#log = log;
    this.#gateway = gateway;
    this.#options = options;
    this.#stall = new ClientStall(outgoing, gateway.stalledClients);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    // The client may have left while the begin was written; then `close` does not come again.
    if (outgoing.destroyed || outgoing.req.socket.destroyed) this.#onClientClose();
    else outgoing.once('close', () => this.#onClientClose());
  }

  get hasEnded(): boolean {
    return this.#ending !== null;
  }

  get reported(): ReportedUsage | null {
    return this.#reported ?? this.#reader?.reported ?? null;
  }

  get clientLeftMs(): number | null {
    return this.#client.leftMs;
  }

  get keyDigest(): string {
    return this.#call.key.digest;
  }

  attach(upstream: UpstreamCall): void {
    this.#upstream = upstream;
    if (this.#isHeadRefused) upstream.abort();
  }

  onConnection(isReused: boolean): void {
    this.wasConnected = true;
    this.connectMs = isReused ? null : this.#elapsedMs();
  }

  onHead(status: number, reason: string, rawHeaders: string[]): void {
    this.headersMs = this.#elapsedMs();
    const { arrival, request, route } = this.#call;
    const head = new AnswerHead(status, rawHeaders, this.#gateway.headerNames);
    const failure = refuseRedirect(head, route);
    if (failure !== null) {
      this.#isHeadRefused = true;
      this.#cut({ kind: 'no-answer', failure });
      return;
    }
    const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304;
    // Only a chunked answer can carry trailers.
    const hasTrailers = request.takesTrailers && hasBody && head.header('transfer-encoding') !== null;
    const { headers, contentLength } = headersForClient(head, arrival.id, hasTrailers);
    this.head = head;
    const { reader, editor } = tapAnswer(this.#call, head, this.#options.isAsked);
    this.#reader = reader;
    this.#editor = editor;
    if (this.#client.hasLeft) return;
    this.#hasDeclaredLength = contentLength !== null && editor === null;
    if (hasBody && this.#hasDeclaredLength && contentLength !== null && contentLength > 0)
      this.#remainingBytes = contentLength;
    const outgoing = this.#outgoing;
    outgoing.sendDate = false;
    const edited = leadHeadersBack(headers, route);
    outgoing.writeHead(status, reason, editor === null ? edited : dropNamed(edited, ['content-length']));
    // Not at once: a small body mostly comes in the same packet and can leave in the same write.
    if (hasBody) setImmediate(flushHead, this);
  }

  onData(chunk: Buffer): void {
    if (this.#isHeadRefused) return;
    this.responseBytes += chunk.length;
    this.firstByteMs ??= this.#elapsedMs();
    this.#log.responseCopy.push(chunk);
    const hasNews = this.#reader?.push(chunk) ?? false;
    if (this.#readOn !== null && !this.#isWorthReading(chunk.length)) {
      this.#cancel(this.#clientGone());
      return;
    }
    if (this.#reader !== null) this.#client.note(this.#reader.reported);
    if (this.#waiting !== null) {
      this.#waiting.push(chunk);
      return;
    }
    if (this.firstTokenMs === null && this.#reader?.sawContent === true) this.firstTokenMs = this.#elapsedMs();
    if (hasNews && this.#throttle.isDue(this.#reader?.reported ?? null)) this.#holdForCheckpoint(chunk);
    else this.#forward(chunk);
  }

  /** Trailers are passed on, not metered or logged. */
  onTrailers(rawTrailers: string[]): void {
    if (!this.#call.request.takesTrailers || this.head === null) return;
    this.#trailers = trailersForClient(this.head, rawTrailers, this.#gateway.headerNames, this.#editor !== null);
  }

  onEnd(): void {
    this.#finish({ kind: 'complete' });
  }

  onFailure(failure: UpstreamFailure): void {
    this.#finish({ kind: this.head === null ? 'no-answer' : 'upstream-cut', failure });
  }

  /** Sends the last byte and trailers of a complete answer; breaks the connection after any other ending. */
  release(): void {
    if (this.#client.hasLeft) return;
    if (this.#ending?.kind !== 'complete') {
      // The head may have come in the same packet as what broke the answer.
      if (this.head !== null && !this.#isHeadFlushed) this.#outgoing.write(EMPTY);
      breakConnection(this.#outgoing, this.#hasDeclaredLength);
      return;
    }
    if (this.#trailers !== null) this.#outgoing.addTrailers(this.#trailers);
    if (this.#lastChunk === null) this.#outgoing.end();
    else this.#outgoing.end(this.#lastChunk);
  }

  shutDown(): void {
    this.#cut({ kind: 'shutdown' });
  }

  endKey(code: KeyEnd): void {
    if (this.#ending === null && this.#endsWithKey()) this.#cut({ kind: 'key-ended', code });
  }

  /** Writes an empty chunk, because `flushHeaders` would encode the head as UTF-8. */
  flushHead(): void {
    if (!this.#isHeadFlushed && this.#ending === null) this.#write(EMPTY);
  }

  /** Streams could go on for hours; other answers are paid for and about to end. */
  #endsWithKey(): boolean {
    if (this.#options.isHandshake || this.#gateway.settings.onRevoke === 'cut') return true;
    return this.head !== null && isStream(this.#call.route, this.head);
  }

  #elapsedMs(): number {
    return performance.now() - this.#call.arrival.monotonicMs;
  }

  #end(how: AnswerEnding): void {
    if (this.#ending !== null) return;
    this.#ending = how;
    this.#stall.end();
    if (this.#drainLimit !== null) clearTimeout(this.#drainLimit);
    this.#readOn?.end();
    if (this.#reader === null) {
      this.#resolveEnded(how);
      return;
    }
    this.#reader.finish(isWhole(how), (final) => {
      this.#reported = final;
      this.#resolveEnded(how);
    });
  }

  #onClientClose(): void {
    if (this.#ending !== null || this.#outgoing.writableFinished) return;
    this.#client.leave(this.head !== null);
    const reader = this.#reader;
    if (reader === null) {
      this.#cancel(this.#clientGone());
    } else if (this.#gateway.settings.onClientAbort === 'drain' && !this.#options.isHandshake) {
      this.#drainLimit = setTimeout(() => this.#cancel(this.#clientGone()), DRAIN_TIMEOUT_MS);
      reader.settle(() => this.#client.settle(reader.reported, !this.#stall.isWaiting));
      this.#upstream?.resume();
    } else {
      this.#readOn = new ReadOn(() => this.#cancel(this.#clientGone()));
      // How much of an encoded answer the client has is known only once the copy is decoded.
      reader.settle(() => this.#onSettled(reader));
    }
  }

  #onSettled(reader: UsageReader): void {
    if (this.#ending !== null) return;
    this.#client.settle(reader.reported, !this.#stall.isWaiting);
    if (!this.#client.isServed) {
      this.#cancel(this.#clientGone());
      return;
    }
    if (reader.reported.terminal) this.#upstream?.expectEnd();
    this.#upstream?.resume();
  }

  #isWorthReading(bytes: number): boolean {
    if (this.#reader?.reported.terminal === true) this.#upstream?.expectEnd();
    return this.#readOn?.take(bytes) === true;
  }

  #clientGone(isComplete = false): AnswerEnding {
    return this.#client.ending(this.#stall.isGivenUp, isComplete);
  }

  /** A client that left with its whole answer is not recorded as cut. */
  #cut(how: AnswerEnding): void {
    this.#cancel(this.#client.hasLeft && this.#client.isServed ? this.#clientGone() : how);
  }

  #cancel(how: AnswerEnding): void {
    this.#upstream?.abort();
    this.#end(how);
  }

  #forward(chunk: Buffer): void {
    const bytes = this.#editor === null ? chunk : this.#editor.push(chunk);
    if (bytes === null || bytes.length === 0) return;
    if (this.#remainingBytes !== null) {
      this.#remainingBytes -= bytes.length;
      if (this.#remainingBytes <= 0) {
        this.#lastChunk = bytes;
        return;
      }
    }
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    if (this.#client.hasLeft) return;
    this.#isHeadFlushed = true;
    if (!this.#client.write(this.#outgoing, bytes)) this.#waitForDrain();
  }

  #waitForDrain(): void {
    if (this.#stall.isWaiting) return;
    this.#upstream?.pause();
    this.#stall.begin();
    this.#outgoing.once('drain', () => {
      this.#stall.end();
      if (this.#waiting === null) this.#upstream?.resume();
    });
  }

  #holdForCheckpoint(chunk: Buffer): void {
    this.#waiting = [chunk];
    this.#upstream?.pause();
    this.#writeCheckpoint();
  }

  #writeCheckpoint(): void {
    this.#throttle.noteWritten(this.#reader?.reported ?? null);
    this.#log.checkpoint(this, () => {
      // The ending may have come into the held chunks since.
      if (this.#throttle.isEndingNews(this.#reader?.reported ?? null)) {
        this.#writeCheckpoint();
        return;
      }
      const held = this.#waiting ?? [];
      this.#waiting = null;
      for (const chunk of held) this.#forward(chunk);
      if (this.#endsAfterCheckpoint !== null) this.#finish(this.#endsAfterCheckpoint);
      else if (!this.#stall.isWaiting) this.#upstream?.resume();
    });
  }

  #finish(how: AnswerEnding): void {
    if (this.#waiting !== null) {
      this.#endsAfterCheckpoint = how;
      return;
    }
    const rest = this.#editor?.finish() ?? null;
    if (rest !== null && rest.length > 0) this.#write(rest);
    this.#end(this.#client.hasLeft ? this.#clientGone(how.kind === 'complete') : how);
  }
}

function flushHead(answer: Answer): void {
  answer.flushHead();
}
