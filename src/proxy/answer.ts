/**
 * Gives the provider's answer to the client: status, headers and bytes as they come, with back-pressure, a copy to the
 * tap. The last byte is kept back until `release`, so that the call's record can be written before it goes out; and
 * bytes that carry usage or the stream's ending wait for a checkpoint. An answer ends exactly once, in one of the ways
 * of `AnswerEnding`.
 */
import type { ServerResponse } from 'node:http';
import type { UsageReading } from '../token-usage.ts';
import { isHopByHop, readNominated } from '../wire/hop-by-hop.ts';
import type { BodyCopy } from './body-copy.ts';
import type { UpstreamCall, UpstreamEvents } from './upstream-client.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

/** A client that takes nothing for this long, while there is something to take, is given up. */
const STALL_TIMEOUT_MS = 10 * 60_000;
/** Between two checkpoints of one call, except for the one before the ending. */
const CHECKPOINT_INTERVAL_MS = 1_000;
/** With `on_client_abort=drain`: how long an answer is read on after its client has gone. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;

export type AnswerEnding =
  /** The whole answer came; all of it but the last byte was sent. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'client-gone' }
  /** The answer began and was cut. */
  | { readonly kind: 'upstream-cut'; readonly failure: UpstreamFailure }
  /** No answer began. */
  | { readonly kind: 'no-answer'; readonly failure: UpstreamFailure }
  | { readonly kind: 'shutdown' };

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

export interface AnswerHead {
  readonly status: number;
  /** As received. */
  readonly rawHeaders: readonly string[];
  /** First value by lower-case name. */
  readonly header: (name: string) => string | null;
}

export interface AnswerOptions {
  readonly requestId: string;
  readonly method: string;
  readonly copy: BodyCopy;
  readonly drainsOnClientAbort: boolean;
  /** Milliseconds since the call arrived, monotonic. */
  readonly elapsedMs: () => number;
  /** Called with the head; gives what depends on it. */
  readonly onHead: (head: AnswerHead) => { readonly meter: AnswerMeter; readonly filter: ClientFilter | null };
  /** Writes a checkpoint and calls `done` when it is kept (or lost). */
  readonly checkpoint: (answer: Answer, done: () => void) => void;
}

export interface Answer extends UpstreamEvents {
  /** Gives the upstream call, for aborts and back-pressure. */
  attach(upstream: UpstreamCall): void;
  readonly ended: Promise<AnswerEnding>;
  /** After `complete`: sends the last byte. After any other ending: breaks the client's connection if it still stands. */
  release(): void;
  /** The gateway stops: cuts the call. */
  shutDown(): void;
  readonly head: AnswerHead | null;
  readonly reading: UsageReading | null;
  readonly responseBytes: number;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
}

const EMPTY = Buffer.alloc(0);

export function openAnswer(outgoing: ServerResponse, options: AnswerOptions): Answer {
  const { copy, elapsedMs } = options;
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<AnswerEnding>();
  let upstream: UpstreamCall | null = null;
  let head: AnswerHead | null = null;
  let meter: AnswerMeter | null = null;
  let filter: ClientFilter | null = null;
  let reading: UsageReading | null = null;
  let ending: AnswerEnding | null = null;
  let responseBytes = 0;
  /** Of a body of declared length: what is still to come. Null: the ending is a separate mark. */
  let remainingBytes: number | null = null;
  let hasDeclaredLength = false;
  /** The last chunk of a body of declared length. */
  let lastChunk: Buffer | null = null;
  /** Chunks that came while a checkpoint was being written; null when none is. */
  let waiting: Buffer[] | null = null;
  /** What `finishUpstream` does once the checkpoint is written. */
  let endsAfterCheckpoint: AnswerEnding | null = null;
  let lastCheckpointMs = Number.NEGATIVE_INFINITY;
  let isTerminalChecked = false;
  let isClientGone = false;
  let isHeadFlushed = false;
  let stall: NodeJS.Timeout | null = null;
  let drainLimit: NodeJS.Timeout | null = null;
  let connectMs: number | null = null;
  let headersMs: number | null = null;
  let firstByteMs: number | null = null;
  let firstTokenMs: number | null = null;

  outgoing.once('close', onClientClose);

  function end(how: AnswerEnding): void {
    if (ending !== null) return;
    ending = how;
    if (stall !== null) clearTimeout(stall);
    if (drainLimit !== null) clearTimeout(drainLimit);
    if (meter === null) {
      resolveEnded(how);
      return;
    }
    meter.finish(how.kind === 'complete', (final) => {
      reading = final;
      resolveEnded(how);
    });
  }

  function onClientClose(): void {
    if (ending !== null || outgoing.writableFinished) return;
    isClientGone = true;
    if (options.drainsOnClientAbort && head !== null) {
      drainLimit = setTimeout(() => cancel({ kind: 'client-gone' }), DRAIN_TIMEOUT_MS);
      upstream?.resume();
    } else {
      cancel({ kind: 'client-gone' });
    }
  }

  function cancel(how: AnswerEnding): void {
    upstream?.abort();
    end(how);
  }

  function forward(chunk: Buffer): void {
    const bytes = filter === null ? chunk : filter.push(chunk);
    if (bytes === null || bytes.length === 0) return;
    if (remainingBytes !== null) {
      remainingBytes -= bytes.length;
      if (remainingBytes <= 0) {
        lastChunk = bytes;
        return;
      }
    }
    write(bytes);
  }

  function write(bytes: Buffer): void {
    if (isClientGone) return;
    isHeadFlushed = true;
    if (!outgoing.write(bytes)) waitForDrain();
  }

  function waitForDrain(): void {
    if (stall !== null) return;
    upstream?.pause();
    stall = setTimeout(() => outgoing.destroy(), STALL_TIMEOUT_MS);
    outgoing.once('drain', () => {
      if (stall !== null) clearTimeout(stall);
      stall = null;
      if (waiting === null) upstream?.resume();
    });
  }

  /** Holds this chunk and all that follow until the checkpoint is written. */
  function holdForCheckpoint(chunk: Buffer): void {
    waiting = [chunk];
    upstream?.pause();
    writeCheckpoint();
  }

  function writeCheckpoint(): void {
    lastCheckpointMs = elapsedMs();
    if (isTerminalNews()) isTerminalChecked = true;
    options.checkpoint(answer, () => {
      // The ending may have come into the held chunks since.
      if (isTerminalNews()) {
        writeCheckpoint();
        return;
      }
      const held = waiting ?? [];
      waiting = null;
      for (const one of held) forward(one);
      if (endsAfterCheckpoint !== null) finish(endsAfterCheckpoint);
      else if (stall === null) upstream?.resume();
    });
  }

  function isTerminalNews(): boolean {
    return meter?.reading.terminal === true && !isTerminalChecked;
  }

  function isCheckpointDue(): boolean {
    return isTerminalNews() || (!isTerminalChecked && elapsedMs() - lastCheckpointMs >= CHECKPOINT_INTERVAL_MS);
  }

  function finish(how: AnswerEnding): void {
    if (waiting !== null) {
      endsAfterCheckpoint = how;
      return;
    }
    const rest = filter?.finish() ?? null;
    if (rest !== null && rest.length > 0) write(rest);
    end(isClientGone ? { kind: 'client-gone' } : how);
  }

  const answer: Answer = {
    attach(call) {
      upstream = call;
    },
    onConnection(isReused) {
      connectMs = isReused ? null : elapsedMs();
    },
    onHead(status, reason, rawHeaders) {
      headersMs = elapsedMs();
      head = { status, rawHeaders, header: (name) => findHeader(rawHeaders, name) };
      ({ meter, filter } = options.onHead(head));
      if (isClientGone) return;
      const { headers, contentLength } = headersForClient(rawHeaders, options.requestId, filter !== null);
      const hasBody = options.method !== 'HEAD' && status !== 204 && status !== 304;
      hasDeclaredLength = contentLength !== null;
      if (hasBody && contentLength !== null && contentLength > 0) remainingBytes = contentLength;
      outgoing.sendDate = false;
      outgoing.writeHead(status, reason, headers);
      // Not `flushHeaders`, which would write the head as UTF-8; and not before this turn of the loop is over, since
      // the body of a small answer mostly comes in the same packet and can leave in the same write.
      setImmediate(() => {
        if (hasBody && !isHeadFlushed && ending === null) write(EMPTY);
      });
    },
    onData(chunk) {
      responseBytes += chunk.length;
      firstByteMs ??= elapsedMs();
      copy.push(chunk);
      if (waiting !== null) {
        meter?.push(chunk);
        waiting.push(chunk);
        return;
      }
      const hasNews = meter?.push(chunk) ?? false;
      if (firstTokenMs === null && meter?.sawContent === true) firstTokenMs = elapsedMs();
      if (hasNews && isCheckpointDue()) holdForCheckpoint(chunk);
      else forward(chunk);
    },
    onEnd() {
      finish({ kind: 'complete' });
    },
    onFailure(failure) {
      finish({ kind: head === null ? 'no-answer' : 'upstream-cut', failure });
    },
    ended,
    release() {
      if (isClientGone) return;
      if (ending?.kind === 'complete') outgoing.end(lastChunk ?? undefined);
      else breakConnection(outgoing, hasDeclaredLength);
    },
    shutDown() {
      cancel({ kind: 'shutdown' });
    },
    get head() {
      return head;
    },
    get reading() {
      return reading ?? meter?.reading ?? null;
    },
    get responseBytes() {
      return responseBytes;
    },
    get connectMs() {
      return connectMs;
    },
    get headersMs() {
      return headersMs;
    },
    get firstByteMs() {
      return firstByteMs;
    },
    get firstTokenMs() {
      return firstTokenMs;
    },
  };
  return answer;
}

/**
 * Ends a cut answer so that the client cannot take it for a whole one: what was received is flushed, and the connection
 * is closed without the final chunk, or reset where a close would look like an ending (HTTP/1.0, no declared length).
 */
function breakConnection(outgoing: ServerResponse, hasDeclaredLength: boolean): void {
  const { socket } = outgoing;
  if (socket === null || outgoing.destroyed) return;
  if (outgoing.chunkedEncoding || hasDeclaredLength) socket.destroySoon();
  else socket.resetAndDestroy();
}

function findHeader(rawHeaders: readonly string[], name: string): string | null {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) return rawHeaders[index + 1] ?? null;
  }
  return null;
}

/** The provider's headers less those of its hop, and the id of the call's record. */
function headersForClient(
  rawHeaders: readonly string[],
  requestId: string,
  isFiltered: boolean,
): { headers: string[]; contentLength: number | null } {
  const headers: string[] = [];
  let contentLength: number | null = null;
  let nominated: readonly string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'connection') nominated = readNominated(value) ?? [];
    if (isHopByHop(lower) || lower.startsWith('x-gateway-')) continue;
    if (lower === 'content-length') {
      if (isFiltered) continue;
      contentLength = Number(value);
    }
    headers.push(name, value);
  }
  headers.push('X-Gateway-Request-Id', requestId);
  if (nominated.length === 0) return { headers, contentLength };
  return { headers: dropNamed(headers, nominated), contentLength };
}

function dropNamed(headers: readonly string[], names: readonly string[]): string[] {
  const left: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!names.includes((headers[index] ?? '').toLowerCase()))
      left.push(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return left;
}
