/** Writes the records of a websocket's turn: a call of its own, with what its connection knows of key, client and run. */
import type { Turn } from '../../formats/usage/session.ts';
import type { CallBegin, CallEnd } from '../../vocabulary/call-record.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import type { AnswerHead } from '../answer-head.ts';
import type { Arrival, CallContext } from '../call-context.ts';
import { CallLog } from '../call-log.ts';
import { type AnswerSummary, describeEnd } from '../describe-end.ts';
import type { Gateway } from '../gateway.ts';
import { describeFailure, UpstreamError } from '../upstream/upstream-failure.ts';
import type { ReservedTurn } from './turn-guard.ts';
import type { TurnMeasure, TurnRecord } from './turn-measures.ts';
import { inTurnOf, readRunMembersOf } from './turn-place.ts';
import { describeTranscripts } from './websocket-record.ts';

/** The websocket that a turn is of. */
export interface TurnConnection {
  readonly call: CallContext;
  readonly log: CallLog;
}

export interface BudgetedTurn {
  readonly reserved?: ReservedTurn | undefined;
  /** Where the connection holds for all its turns. */
  readonly onCost?: ((begin: CallBegin, end: CallEnd) => void) | undefined;
}

/** `head`: the provider's answer to the handshake. `request`: the client's message that begins the turn, where one does. */
export function openTurnRecord(
  gateway: Gateway,
  connection: TurnConnection,
  head: AnswerHead,
  turn: Turn,
  arrival: Arrival,
  request: Buffer | null,
  budgeted: BudgetedTurn = {},
): TurnRecord {
  const { reserved, onCost } = budgeted;
  const log = new CallLog(gateway, reserved?.arrival ?? arrival);
  log.continueConnection(request === null ? connection.call : inTurnOf(connection.call, request), connection.log);
  if (reserved !== undefined) log.hold(reserved.claims, reserved.flags);
  const runMembers = request === null ? null : readRunMembersOf(request, connection.call);
  const requested = { model: turn.modelRequested, streamed: true, ...(runMembers === null ? {} : { runMembers }) };
  // Its request has gone out: without room for the begin, the end tells all of it.
  void log.begin(requested, turn.reported.flags).catch(() => {});

  return {
    checkpoint: (now, measure) => log.checkpoint(summarize(head, now, measure), () => {}),
    end: (ended, measure, ending) =>
      log.end((call, begin) => {
        const end = describeEnd(call, begin, {
          ending,
          answer: summarize(head, ended, measure),
          requested,
          sentUsage: null,
          overheadUs: 0,
          requestBytes: measure.requestBytes,
          nowMs: performance.now(),
        });
        const own = { providerRequestId: ended.responseId, overheadUs: null, requestHeaders: [], responseHeaders: [] };
        const isUnknown = ending.kind === 'complete' && !ended.reported.terminal;
        const flags = isUnknown ? [...end.flags, 'no_ending' as const] : end.flags;
        onCost?.(begin, end);
        return { end: { ...end, ...own, flags }, bodies: call.logsBodies ? describeTranscripts(begin, measure) : [] };
      }),
  };
}

function summarize(head: AnswerHead, { reported }: Turn, measure: TurnMeasure): AnswerSummary {
  const { responseBytes, firstByteMs, firstTokenMs } = measure;
  return { head, reported, responseBytes, connectMs: null, headersMs: null, firstByteMs, firstTokenMs };
}

/** The ending of a turn that was open when its connection ended. */
export function readCutEnding(
  connection: AnswerEnding,
  measure: TurnMeasure,
  closedFirst: 'client' | 'provider' | 'unknown',
): AnswerEnding {
  const before = measure.firstByteMs === null ? 'first_byte' : 'end';
  if (connection.kind === 'client-gone') return { ...connection, before };
  if (connection.kind !== 'complete' || closedFirst === 'unknown') return connection;
  if (closedFirst === 'client') return { kind: 'client-gone', isStalled: false, before };
  return { kind: 'upstream-cut', failure: describeFailure(new UpstreamError('ANSWER_CUT')) };
}
