/**
 * Gives the provider's answer to the client: status, headers and bytes as they come, with back-pressure, a copy to the
 * tap. The last byte is kept back until `release`, so that the call's record can be written before it goes out; and
 * bytes that carry usage or the stream's ending wait for a checkpoint. An answer ends exactly once, in one of the ways
 * of `AnswerEnding`.
 */
import type { UsageReading } from '../token-usage.ts';
import { AnswerHead, dropNamed, headersForClient, trailersForClient } from './answer-head.ts';
import type { BodyCopy } from './body-copy.ts';
import { breakConnection } from './break-connection.ts';
import { CheckpointPace } from './checkpoint-pace.ts';
import type { ClientResponse } from './client-exchange.ts';
import { ClientStall } from './client-stall.ts';
import type { HeaderNames } from './header-names.ts';
import type { IdleSweep } from './idle-sweep.ts';
import type { KeyEnd } from './key-end.ts';
import type { UpstreamCall, UpstreamEvents } from './upstream/upstream.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** With `on_client_abort=drain`: how long an answer is read on after its client has gone. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;

export type AnswerEnding =
  /** The whole answer came; all of it but the last byte was sent. */
  | { readonly kind: 'complete' }
  /** `isStalled`: it was there and took nothing for too long. */
  | { readonly kind: 'client-gone'; readonly isStalled: boolean }
  /** The answer began and was cut. */
  | { readonly kind: 'upstream-cut'; readonly failure: UpstreamFailure }
  /** No answer began. */
  | { readonly kind: 'no-answer'; readonly failure: UpstreamFailure }
  | { readonly kind: 'shutdown' }
  /** The call's key was revoked or has expired. */
  | { readonly kind: 'key-ended'; readonly code: KeyEnd };

/** Reads usage from the tapped bytes. `push` says that a checkpoint is due before this chunk goes to the client. */
export interface AnswerMeter {
  push(chunk: Buffer): boolean;
  finish(complete: boolean, done: (reading: UsageReading) => void): void;
  readonly reading: UsageReading;
  readonly sawContent: boolean;
}

/** Takes away from the client's copy what the gateway had asked for; null when nothing is to be sent yet. */
export interface ClientFilter {
  push(chunk: Buffer): Buffer | null;
  finish(): Buffer | null;
}

/** What an answer needs of the call it belongs to. */
export interface AnswerOptions {
  readonly requestId: string;
  readonly method: string;
  /** The client has asked for trailers; without that they are dropped. */
  readonly takesTrailers: boolean;
  readonly copy: BodyCopy;
  readonly headerNames: HeaderNames;
  readonly drainsOnClientAbort: boolean;
  readonly keyDigest: string;
  /** Whether it is cut when its key ends; the head is null until it has come. */
  readonly endsWithKey: (head: AnswerHead | null) => boolean;
  /** Gives up clients that take nothing. */
  readonly stalls: IdleSweep;
  /** Monotonic time at which the call arrived; all times of an answer count from it. */
  readonly arrivedMs: number;
  /** Asked first: what the client gets instead of this head, or null. */
  readonly refusesHead: (head: AnswerHead) => UpstreamFailure | null;
  /** The provider's headers as the client gets them: flat. */
  readonly editHeaders: ((headers: string[]) => string[]) | null;
  /** Called with the head; gives what depends on it. */
  readonly onHead: (head: AnswerHead) => { readonly meter: AnswerMeter; readonly filter: ClientFilter | null };
  /** Writes a checkpoint and calls `done` when it is kept (or lost). */
  readonly checkpoint: (answer: Answer, done: () => void) => void;
}

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
  #isClientGone = false;
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
      this.#cancel(this.#isClientGone ? this.#clientGone() : { kind: 'no-answer', failure });
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
    if (this.#isClientGone) return;
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

  /** After `complete`: sends the last byte, and trailers. After any other ending: breaks the connection if it stands. */
  release(): void {
    if (this.#isClientGone) return;
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
    this.#cancel({ kind: 'shutdown' });
  }

  endKey(code: KeyEnd): void {
    if (this.#ending === null && this.#options.endsWithKey(this.#head)) this.#cancel({ kind: 'key-ended', code });
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
    if (this.#meter === null) {
      this.#resolveEnded(how);
      return;
    }
    this.#meter.finish(how.kind === 'complete', (final) => {
      this.#reading = final;
      this.#resolveEnded(how);
    });
  }

  #onClientClose(): void {
    if (this.#ending !== null || this.#outgoing.writableFinished) return;
    this.#isClientGone = true;
    if (this.#options.drainsOnClientAbort && this.#head !== null) {
      this.#drainLimit = setTimeout(() => this.#cancel(this.#clientGone()), DRAIN_TIMEOUT_MS);
      this.#upstream?.resume();
    } else {
      this.#cancel(this.#clientGone());
    }
  }

  #clientGone(): AnswerEnding {
    return { kind: 'client-gone', isStalled: this.#stall.isGivenUp };
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
    if (this.#isClientGone) return;
    this.#isHeadFlushed = true;
    if (!this.#outgoing.write(bytes)) this.#waitForDrain();
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
    this.#end(this.#isClientGone ? this.#clientGone() : how);
  }
}

function flushHead(answer: Answer): void {
  answer.flushHead();
}
