/** Describes a websocket's connection: its ending, usage and transcripts, without what its turns have. Pure. */
import type { CallBegin, CallBody, CallEnd } from '../../vocabulary/call-record.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import type { AnswerHead } from '../answer-head.ts';
import type { BodyCopy } from '../body-copy.ts';
import type { CallContext } from '../call-context.ts';
import { describeCopiedBody } from '../describe-body.ts';
import { type AnswerSummary, describeEnd } from '../describe-end.ts';
import { describeFailure, UpstreamError } from '../upstream/upstream-failure.ts';
import type { WebsocketMeter } from './websocket-meter.ts';
import type { RelayEnding } from './websocket-relay.ts';

const TRANSCRIPT_TYPE = 'application/x-ndjson';

/** A snapshot of what the session has been so far. */
export function describeSession(
  meter: WebsocketMeter,
  head: AnswerHead,
  connectMs: number | null,
  headersMs: number,
): AnswerSummary {
  const { reported, responseBytes, firstByteMs, firstTokenMs } = meter;
  return { head, connectMs, headersMs, reported, responseBytes, firstByteMs, firstTokenMs };
}

export function describeSessionEnd(
  call: CallContext,
  begin: CallBegin,
  ending: AnswerEnding,
  meter: WebsocketMeter,
  session: AnswerSummary,
  overheadUs: number,
): CallEnd {
  const end = describeEnd(call, begin, {
    ending,
    answer: session,
    requested: { model: meter.modelRequested, streamed: true },
    sentUsage: null,
    overheadUs,
    requestBytes: meter.requestBytes,
    nowMs: performance.now(),
  });
  if (ending.kind !== 'complete') return end;
  const { refusedWith } = meter;
  // Most errors answer a single message; the session goes on, and its end decides.
  if (refusedWith === null) return { ...end, outcome: 'ok' };
  return {
    ...end,
    outcome: 'upstream_stream_error',
    errorType: end.errorType ?? `websocket_close_${refusedWith.code}`,
    errorMessage: refusedWith.reason === '' ? end.errorMessage : refusedWith.reason,
  };
}

/**
 * A close frame ends a websocket; without one it was cut by whoever ended first. A client that has had the end of every
 * turn may go without one: some never send any.
 */
export function readSessionEnding(ended: RelayEnding, meter: WebsocketMeter): AnswerEnding {
  const before = meter.firstByteMs === null ? 'first_byte' : 'end';
  const left: AnswerEnding = meter.isAnswered
    ? { kind: 'complete' }
    : { kind: 'client-gone', isStalled: false, before };
  switch (ended.kind) {
    case 'provider-ended':
      if (meter.sawClose || meter.isBlind) return { kind: 'complete' };
      if (ended.isSecond) return left;
      return { kind: 'upstream-cut', failure: describeFailure(new UpstreamError('ANSWER_CUT')) };
    case 'provider-cut':
      if (meter.sawClose) return { kind: 'complete' };
      if (ended.isSecond) return left;
      return { kind: 'upstream-cut', failure: describeFailure(ended.error ?? new UpstreamError('ANSWER_CUT')) };
    case 'client-gone':
      return meter.sawClose ? { kind: 'complete' } : left;
    case 'idle':
      return { kind: 'upstream-cut', failure: describeFailure(new UpstreamError('IDLE_TIMEOUT')) };
    case 'shutdown':
      return { kind: 'shutdown' };
    case 'key-ended':
      return { kind: 'key-ended', code: ended.code };
  }
}

export function describeTranscripts(
  begin: CallBegin,
  { requestCopy, responseCopy }: { readonly requestCopy: BodyCopy; readonly responseCopy: BodyCopy },
): CallBody[] {
  const header = (name: string) => (name === 'content-type' ? TRANSCRIPT_TYPE : null);
  const copies = [['request', requestCopy] as const, ['response', responseCopy] as const];
  return copies.flatMap(([direction, copy]) =>
    copy.isStored ? [describeCopiedBody(begin, direction, header, copy)] : [],
  );
}
