/**
 * Gives the provider's answer to the client: status, headers and bytes as they come, with back-pressure, a copy to the
 * tap. The last byte is kept back until `release`, so that the call's record can be written before it goes out; and
 * bytes that carry usage or the stream's ending wait for a checkpoint. An answer ends exactly once, in one of the ways
 * of `AnswerEnding`.
 */
import type { UsageReading } from '../token-usage.ts';
import { type AnswerEnding, isWhole } from './answer-ending.ts';
import { AnswerHead, dropNamed, headersForClient, trailersForClient } from './answer-head.ts';
import type { AnswerMeter, AnswerOptions, ClientFilter } from './answer-options.ts';
import { breakConnection } from './break-connection.ts';
import { CheckpointPace } from './checkpoint-pace.ts';
import type { ClientResponse } from './client-exchange.ts';
import { ClientShare } from './client-share.ts';
import { ClientStall } from './client-stall.ts';
import type { KeyEnd } from './key-end.ts';
import { ReadOn } from './read-on.ts';
import type { UpstreamCall, UpstreamEvents } from './upstream/upstream.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** With `on_client_abort=drain`: how long an answer is read on after its client has gone. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;

const EMPTY = Buffer.alloc(0);

export class Answer implements UpstreamEvents {
  readonly ended: Promise<AnswerEnding>;
  readonly #outgoing: ClientResponse;
  readonly #options: AnswerOptions;
  readonly #pace = new CheckpointPace();
  readonly #stall: ClientStall;
  #resolveEnded: (ending: AnswerEnding) => void = () => {};
  #upstream: UpstreamCall | null = null;
  #head: AnswerHead | null = null;
  #meter: AnswerMeter | null = null;
  #filter: ClientFilter | null = null;
  #reading: UsageReading | null = null;
  #ending: AnswerEnding | null = null;
  #responseBytes = 0;
  #hasDeclaredLength = false;
  /** Of a body of declared length: what is still to come. Null: the ending is a separate mark. */
  #remainingBytes: number | null = null;
  /** The last chunk of a body of declared length. */
  #lastChunk: Buffer | null = null;
  /** For the client, behind the last byte. */
  #trailers: readonly [string, string][] | null = null;
  /** Chunks that came while a checkpoint was being written; null when none is. */
  #waiting: Buffer[] | null = null;
  /** What is to happen once that checkpoint is written. */
  #endsAfterCheckpoint: AnswerEnding | null = null;
  readonly #client = new ClientShare();
  #readOn: ReadOn | null = null;
  #isHeadRefused = false;
  #isHeadFlushed = false;
  #drainLimit: NodeJS.Timeout | null = null;
  #connectMs: number | null = null;
  #headersMs: number | null = null;
  #firstByteMs: number | null = null;
  #firstTokenMs: number | null = null;

  constructor(outgoing: ClientResponse, options: AnswerOptions) {
    this.#outgoing = outgoing;
    this.#options = options;
    this.#stall = new ClientStall(outgoing, options.stalls);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    // The client may have gone while its call was written down; then `close` does not come again.
    if (outgoing.destroyed || outgoing.req.socket.destroyed) this.#onClientClose();
    else outgoing.once('close', () => this.#onClientClose());
  }

  get hasEnded(): boolean {
    return this.#ending !== null;
  }

  get head(): AnswerHead | null {
    return this.#head;
  }

  get reading(): UsageReading | null {
    return this.#reading ?? this.#meter?.reading ?? null;
  }

  get responseBytes(): number {
    return this.#responseBytes;
  }

  get connectMs(): number | null {
    return this.#connectMs;
  }

  get headersMs(): number | null {
    return this.#headersMs;
  }

  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** Monotonic; null while it is there. */
  get clientLeftMs(): number | null {
    return this.#client.leftMs;
  }

  get firstTokenMs(): number | null {
    return this.#firstTokenMs;
  }

  get keyDigest(): string {
    return this.#options.keyDigest;
  }

  /** Gives the upstream call, for aborts and back-pressure. */
  attach(upstream: UpstreamCall): void {
    this.#upstream = upstream;
    // Refused before there was anything to abort.
    if (this.#isHeadRefused) upstream.abort();
  }

  onConnection(isReused: boolean): void {
    this.#connectMs = isReused ? null : this.#elapsedMs();
  }

  onHead(status: number, reason: string, rawHeaders: string[]): void {
    this.#headersMs = this.#elapsedMs();
    const { method, requestId, headerNames, takesTrailers } = this.#options;
    const head = new AnswerHead(status, rawHeaders, headerNames);
    const failure = this.#options.refusesHead(head);
    if (failure !== null) {
      this.#isHeadRefused = true;
      this.#cut({ kind: 'no-answer', failure });
      return;
    }
    const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
    // Only chunks can have them, and the client's then are chunks, or frames, too.
    const hasTrailers = takesTrailers && hasBody && head.header('transfer-encoding') !== null;
    const { headers, contentLength } = headersForClient(head, requestId, hasTrailers);
    this.#head = head;
    const { meter, filter } = this.#options.onHead(head);
    this.#meter = meter;
    this.#filter = filter;
    if (this.#client.hasLeft) return;
    this.#hasDeclaredLength = contentLength !== null && filter === null;
    if (hasBody && this.#hasDeclaredLength && contentLength !== null && contentLength > 0)
      this.#remainingBytes = contentLength;
    const outgoing = this.#outgoing;
    outgoing.sendDate = false;
    const edited = this.#options.editHeaders?.(headers) ?? headers;
    outgoing.writeHead(status, reason, filter === null ? edited : dropNamed(edited, ['content-length']));
    if (hasBody) setImmediate(flushHead, this);
  }

  onData(chunk: Buffer): void {
    if (this.#isHeadRefused) return;
    this.#responseBytes += chunk.length;
    this.#firstByteMs ??= this.#elapsedMs();
    this.#options.copy.push(chunk);
    const hasNews = this.#meter?.push(chunk) ?? false;
    if (this.#readOn !== null && !this.#isWorthReading(chunk.length)) {
      this.#cancel(this.#clientGone());
      return;
    }
    if (this.#meter !== null) this.#client.note(this.#meter.reading);
    if (this.#waiting !== null) {
      this.#waiting.push(chunk);
      return;
    }
    if (this.#firstTokenMs === null && this.#meter?.sawContent === true) this.#firstTokenMs = this.#elapsedMs();
    if (hasNews && this.#pace.isDue(this.#meter?.reading ?? null)) this.#holdForCheckpoint(chunk);
    else this.#forward(chunk);
  }

  /** Nothing of them is read here, and none is recorded. */
  onTrailers(rawTrailers: string[]): void {
    const { takesTrailers, headerNames } = this.#options;
    if (!takesTrailers || this.#head === null) return;
    this.#trailers = trailersForClient(this.#head, rawTrailers, headerNames, this.#filter !== null);
  }

  onEnd(): void {
    this.#finish({ kind: 'complete' });
  }

  onFailure(failure: UpstreamFailure): void {
    this.#finish({ kind: this.#head === null ? 'no-answer' : 'upstream-cut', failure });
  }

  /**
   * After `complete`: sends the last byte, and trailers. After any other ending: breaks the connection if it stands.
   */
  release(): void {
    if (this.#client.hasLeft) return;
    if (this.#ending?.kind !== 'complete') {
      // The head may have come in the same packet as what broke the answer.
      if (this.#head !== null && !this.#isHeadFlushed) this.#outgoing.write(EMPTY);
      breakConnection(this.#outgoing, this.#hasDeclaredLength);
      return;
    }
    if (this.#trailers !== null) this.#outgoing.addTrailers(this.#trailers);
    if (this.#lastChunk === null) this.#outgoing.end();
    else this.#outgoing.end(this.#lastChunk);
  }

  /** The gateway stops: cuts the call. */
  shutDown(): void {
    this.#cut({ kind: 'shutdown' });
  }

  endKey(code: KeyEnd): void {
    if (this.#ending === null && this.#options.endsWithKey(this.#head)) this.#cut({ kind: 'key-ended', code });
  }

  /**
   * Not `flushHeaders`, which would write the head as UTF-8; and not before the turn of the loop in which it came is
   * over, since the body of a small answer mostly comes in the same packet and can leave in the same write.
   */
  flushHead(): void {
    if (!this.#isHeadFlushed && this.#ending === null) this.#write(EMPTY);
  }

  #elapsedMs(): number {
    return performance.now() - this.#options.arrivedMs;
  }

  #end(how: AnswerEnding): void {
    if (this.#ending !== null) return;
    this.#ending = how;
    this.#stall.end();
    if (this.#drainLimit !== null) clearTimeout(this.#drainLimit);
    this.#readOn?.end();
    if (this.#meter === null) {
      this.#resolveEnded(how);
      return;
    }
    this.#meter.finish(isWhole(how), (final) => {
      this.#reading = final;
      this.#resolveEnded(how);
    });
  }

  #onClientClose(): void {
    if (this.#ending !== null || this.#outgoing.writableFinished) return;
    this.#client.leave(this.#head !== null);
    const meter = this.#meter;
    if (meter === null) {
      this.#cancel(this.#clientGone());
    } else if (this.#options.drainsOnClientAbort) {
      this.#drainLimit = setTimeout(() => this.#cancel(this.#clientGone()), DRAIN_TIMEOUT_MS);
      meter.settle(() => this.#client.settle(meter.reading, !this.#stall.isWaiting));
      this.#upstream?.resume();
    } else {
      this.#readOn = new ReadOn(() => this.#cancel(this.#clientGone()));
      // What it has of an encoded answer is known when the copy is decoded: until then, too, the answer is read on.
      meter.settle(() => this.#onSettled(meter));
    }
  }

  #onSettled(meter: AnswerMeter): void {
    if (this.#ending !== null) return;
    this.#client.settle(meter.reading, !this.#stall.isWaiting);
    if (!this.#client.isServed) {
      this.#cancel(this.#clientGone());
      return;
    }
    if (meter.reading.terminal) this.#upstream?.expectEnd();
    this.#upstream?.resume();
  }

  /** Of what comes after the client has gone. */
  #isWorthReading(bytes: number): boolean {
    if (this.#meter?.reading.terminal === true) this.#upstream?.expectEnd();
    return this.#readOn?.take(bytes) === true;
  }

  #clientGone(isComplete = false): AnswerEnding {
    return this.#client.ending(this.#stall.isGivenUp, isComplete);
  }

  /** Nothing is cut for a client that went with its answer. */
  #cut(how: AnswerEnding): void {
    this.#cancel(this.#client.hasLeft && this.#client.isServed ? this.#clientGone() : how);
  }

  #cancel(how: AnswerEnding): void {
    this.#upstream?.abort();
    this.#end(how);
  }

  #forward(chunk: Buffer): void {
    const bytes = this.#filter === null ? chunk : this.#filter.push(chunk);
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

  /** Holds this chunk and all that follow until the checkpoint is written. */
  #holdForCheckpoint(chunk: Buffer): void {
    this.#waiting = [chunk];
    this.#upstream?.pause();
    this.#writeCheckpoint();
  }

  #writeCheckpoint(): void {
    this.#pace.told(this.#meter?.reading ?? null);
    this.#options.checkpoint(this, () => {
      // The ending may have come into the held chunks since.
      if (this.#pace.isEndingNews(this.#meter?.reading ?? null)) {
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
    const rest = this.#filter?.finish() ?? null;
    if (rest !== null && rest.length > 0) this.#write(rest);
    this.#end(this.#client.hasLeft ? this.#clientGone(how.kind === 'complete') : how);
  }
}

function flushHead(answer: Answer): void {
  answer.flushHead();
}
