/**
 * What is written down about a websocket when it is over: how it ended, what its turns used together, and what was
 * said. Pure: facts in, records out.
 */
import type { CallBegin, CallBody, CallEnd } from '../../call-record.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import type { AnswerHead } from '../answer-head.ts';
import type { BodyCopy } from '../body-copy.ts';
import { withClockFlag } from '../keep-call.ts';
import { type AnswerFacts, type CallFacts, describeCopiedBody, describeEnd } from '../record.ts';
import { describeFailure, UpstreamError } from '../upstream/upstream-failure.ts';
import type { WebsocketMeter } from './websocket-meter.ts';
import type { RelayEnding } from './websocket-relay.ts';

const TRANSCRIPT_TYPE = 'application/x-ndjson';

export function describeSession(
  meter: WebsocketMeter,
  head: AnswerHead,
  connectMs: number | null,
  headersMs: number,
): AnswerFacts {
  return {
    head,
    connectMs,
    headersMs,
    get reading() {
      return meter.reading;
    },
    get responseBytes() {
      return meter.responseBytes;
    },
    get firstByteMs() {
      return meter.firstByteMs;
    },
    get firstTokenMs() {
      return meter.firstTokenMs;
    },
  };
}

/** One record for the whole connection, however many turns it had. */
export function describeSessionEnd(
  facts: CallFacts,
  begin: CallBegin,
  ended: RelayEnding,
  meter: WebsocketMeter,
  session: AnswerFacts,
  overheadUs: number,
): CallEnd {
  const ending = readEnding(ended, meter);
  const end = describeEnd(facts, begin, {
    ending,
    answer: session,
    body: { model: meter.modelRequested, streamed: true },
    flags: withClockFlag(begin.flags, facts.arrival),
    sentUsage: null,
    overheadUs,
    requestBytes: meter.requestBytes,
    nowMs: performance.now(),
  });
  const usageSource = end.usageSource === 'provider' && !meter.reading.terminal ? 'partial' : end.usageSource;
  if (ending.kind !== 'complete') return { ...end, usageSource };
  const { refusedWith } = meter;
  // Most errors in a session are answers to one of its messages; it goes on, and its end tells how it went.
  if (refusedWith === null) {
    // Goodbye was said in the middle of an answer, of which nobody knows whether the rest was made.
    const isWithin = !meter.reading.terminal && !end.flags.includes('no_ending');
    return { ...end, usageSource, outcome: 'ok', flags: isWithin ? [...end.flags, 'no_ending'] : end.flags };
  }
  return {
    ...end,
    usageSource,
    outcome: 'upstream_stream_error',
    errorType: end.errorType ?? `websocket_close_${refusedWith.code}`,
    errorMessage: refusedWith.reason === '' ? end.errorMessage : refusedWith.reason,
  };
}

/** A websocket is over when one side has said so; what ends without that was cut, by who ended first. */
function readEnding(ended: RelayEnding, meter: WebsocketMeter): AnswerEnding {
  const before = meter.responseBytes === 0 ? 'first_byte' : 'end';
  switch (ended.kind) {
    case 'provider-ended':
      if (meter.sawClose || meter.isBlind) return { kind: 'complete' };
      if (ended.isSecond) return { kind: 'client-gone', isStalled: false, before };
      return { kind: 'upstream-cut', failure: describeFailure(new UpstreamError('ANSWER_CUT')) };
    case 'provider-cut':
      if (meter.sawClose) return { kind: 'complete' };
      if (ended.isSecond) return { kind: 'client-gone', isStalled: false, before };
      return { kind: 'upstream-cut', failure: describeFailure(ended.error ?? new UpstreamError('ANSWER_CUT')) };
    case 'client-gone':
      return meter.sawClose ? { kind: 'complete' } : { kind: 'client-gone', isStalled: false, before };
    case 'idle':
      return { kind: 'upstream-cut', failure: describeFailure(new UpstreamError('IDLE_TIMEOUT')) };
    case 'shutdown':
      return { kind: 'shutdown' };
    case 'key-ended':
      return { kind: 'key-ended', code: ended.code };
  }
}

/** What each side said in text, one message a line. */
export function describeTranscripts(begin: CallBegin, requestCopy: BodyCopy, responseCopy: BodyCopy): CallBody[] {
  const copies = [['request', requestCopy] as const, ['response', responseCopy] as const];
  return copies.flatMap(([direction, copy]) => {
    if (copy.totalBytes === 0 || copy.isDropped) return [];
    return [describeCopiedBody(begin, direction, readTranscriptHeader, copy)];
  });
}

function readTranscriptHeader(name: string): string | null {
  return name === 'content-type' ? TRANSCRIPT_TYPE : null;
}
