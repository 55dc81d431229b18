/** The checkpoint and end records of a call. Pure; never a credential, never a cost. */

import { type AskedLifetime, withAskedLifetime } from '../formats/usage/asked-lifetime.ts';
import { type BilledUsage, readBilledUsage } from '../formats/usage/billed-usage.ts';
import { isDiscounted } from '../formats/usage/responses.ts';
import { copyLatin1 } from '../formats/wire/copy-text.ts';
import { isAnswerId } from '../vocabulary/answer-chain.ts';
import type { CallBegin, CallCheckpoint, CallEnd, ClosedBefore } from '../vocabulary/call-record.ts';
import { STEP_MS } from '../vocabulary/clock.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode, messageWithDetail } from '../vocabulary/errors.ts';
import { CHAIN_SOURCE } from '../vocabulary/run-sources.ts';
import type { CallFlag, ReportedUsage, TokenUsage } from '../vocabulary/token-usage.ts';
import { type AnswerEnding, isWhole } from './answer-ending.ts';
import type { AnswerHead } from './answer-head.ts';
import { readHeaderTerms } from './asked-terms.ts';
import type { Arrival, CallContext, RequestedModel } from './call-context.ts';
import { leadsAway } from './leading-address.ts';
import { errorOf, isOfClient, outcomeOf, statusSent } from './outcome.ts';
import { readServedTerms } from './served-terms.ts';

const MAX_ERROR_MESSAGE_CHARS = 1_000;

/** What an answer or a session reports of itself. Times count from the call's arrival. */
export interface AnswerSummary {
  readonly head: AnswerHead | null;
  readonly reported: ReportedUsage | null;
  readonly responseBytes: number;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
}

export function describeCheckpoint(
  arrival: Arrival,
  answer: AnswerSummary,
  reported: ReportedUsage,
  nowMs: number,
): CallCheckpoint {
  return {
    id: arrival.id,
    status: answer.head?.status ?? 0,
    responseBytes: answer.responseBytes,
    elapsedMs: Math.round(nowMs - arrival.monotonicMs),
    reading: reported,
  };
}

export interface EndedCall {
  readonly ending: AnswerEnding;
  readonly answer: AnswerSummary;
  readonly requested: RequestedModel;
  /** Set where the endpoint is billed by what was sent. */
  readonly sentUsage: TokenUsage | null;
  /** Absent for sessions, whose formats cannot ask for it. */
  readonly readSentLifetime?: () => AskedLifetime;
  readonly overheadUs: number;
  readonly requestBytes: number;
  readonly nowMs: number;
}

export function describeEnd(call: CallContext, begin: CallBegin, end: EndedCall): CallEnd {
  const { answer, ending } = end;
  const { reported, head } = answer;
  const responseHeaders = head === null ? [] : keepResponseHeaders(head);
  const status = statusSent(ending, head);
  const outcome = outcomeOf(ending, status, reported);
  const error = errorOf(ending, reported, head, call.route.provider);
  const durationMs = durationOf(call.arrival, end.nowMs);
  const use = readBilledUsage(reported, {
    fetchesResult: call.route.endpoint.fetchesResult === true,
    isFinishedByPath: call.route.endpoint.resultId !== undefined,
    contentType: head?.header('content-type') ?? null,
    isComplete: isWhole(ending),
    sentUsage: end.sentUsage,
    status,
  });
  const terms = readServedTerms(
    call.route.provider,
    end.requested,
    readHeaderTerms(call),
    reported,
    use.usage !== null,
  );
  const record: CallEnd = {
    id: begin.id,
    status,
    outcome,
    errorType: error.type,
    errorMessage: error.message?.slice(0, MAX_ERROR_MESSAGE_CHARS) ?? null,
    providerRequestId:
      readRequestId(responseHeaders, head, call.route.provider.requestIdHeaders) ?? reported?.answerId ?? null,
    modelRequested: begin.modelRequested ?? end.requested.model,
    streamed: begin.streamed ?? end.requested.streamed,
    model: reported?.model ?? null,
    serviceTier: terms.serviceTier,
    speed: terms.speed,
    inferenceGeo: terms.inferenceGeo,
    usage: use.usage === null ? null : withWhatWasAsked(use.usage, end),
    usageSource: use.usageSource,
    flags: joinFlags(withRemark(listFlags(call, begin, end), use), reported?.flags ?? []),
    respondedAtMs: call.arrival.requestedAtMs + durationMs,
    durationMs,
    connectMs: round(answer.connectMs),
    headersMs: round(answer.headersMs),
    firstByteMs: round(answer.firstByteMs),
    firstTokenMs: round(answer.firstTokenMs),
    overheadUs: end.overheadUs,
    requestBytes: end.requestBytes,
    responseBytes: answer.responseBytes,
    requestHeaders: call.headers.loggedHeaders,
    responseHeaders,
  };
  // Not spread in above, which would add each following member one by one.
  const before = closedBefore(ending, answer.firstByteMs);
  const closed = before === null ? record : { ...record, closedBefore: before };
  const named = nameResult(closed, use);
  const answerId = readAnswerId(call, reported);
  return answerId === null ? named : { ...named, answerId };
}

/** What the answer leaves out and the request tells. */
function withWhatWasAsked(usage: TokenUsage, { requested, readSentLifetime }: EndedCall): TokenUsage {
  const known = readSentLifetime === undefined ? usage : withAskedLifetime(usage, readSentLifetime);
  return isDiscounted(requested.completionWindow) ? { ...known, isIncomplete: true } : known;
}

function nameResult(end: CallEnd, { billedOnceAs, billedLaterAs }: BilledUsage): CallEnd {
  if (billedOnceAs !== null) return { ...end, billedOnceAs };
  return billedLaterAs === null ? end : { ...end, billedLaterAs };
}

/** What the client went or fell silent before; null where neither cut the answer. */
function closedBefore(ending: AnswerEnding, firstByteMs: number | null): ClosedBefore | null {
  if (ending.kind === 'client-gone') return ending.before;
  if (ending.kind !== 'upstream-cut' || !isOfClient(ending.failure.code)) return null;
  return firstByteMs === null ? 'first_byte' : 'end';
}

/** Of answers that calls after it may continue. A fetched one is another call's. */
function readAnswerId({ key, route }: CallContext, reported: ReportedUsage | null): string | null {
  if (key.runsFrom?.includes(CHAIN_SOURCE) !== true || route.endpoint.fetchesResult === true) return null;
  const answerId = reported?.answerId;
  return answerId !== undefined && isAnswerId(answerId) ? answerId : null;
}

function listFlags({ arrival }: CallContext, { flags }: CallBegin, end: EndedCall): readonly CallFlag[] {
  // Unrequested usage matters only where there may have been a stream.
  const known = end.requested.streamed === false ? flags.filter((flag) => flag !== 'usage_not_asked') : [...flags];
  // The machine's clock jumped during the call; its duration is monotonic and right.
  const jumpMs = Date.now() - arrival.wallMs - (performance.now() - arrival.monotonicMs);
  if (Math.abs(jumpMs) >= STEP_MS) known.push('clock_step');
  if (end.answer.head !== null && leadsAway(end.answer.head)) known.push('leads_away');
  return known;
}

/** The end of a call that the gateway refused after authentication and routing. */
export function describeRejection(
  call: CallContext,
  begin: CallBegin,
  code: GatewayErrorCode,
  detail: string | undefined,
  nowMs: number,
): CallEnd {
  const durationMs = durationOf(call.arrival, nowMs);
  return {
    id: begin.id,
    status: GATEWAY_ERRORS[code].status,
    outcome: code === 'gateway_defect' ? 'gateway_error' : 'rejected',
    errorType: code,
    errorMessage: messageWithDetail(code, detail).slice(0, MAX_ERROR_MESSAGE_CHARS),
    providerRequestId: null,
    modelRequested: begin.modelRequested,
    streamed: begin.streamed,
    model: null,
    serviceTier: null,
    speed: null,
    inferenceGeo: null,
    usage: null,
    usageSource: 'none',
    flags: begin.flags,
    respondedAtMs: call.arrival.requestedAtMs + durationMs,
    durationMs,
    connectMs: null,
    headersMs: null,
    firstByteMs: null,
    firstTokenMs: null,
    overheadUs: null,
    requestBytes: 0,
    responseBytes: 0,
    requestHeaders: call.headers.loggedHeaders,
    responseHeaders: [],
  };
}

/** Monotonic, so that `responded_at` is never before `requested_at`. */
function durationOf(arrival: Arrival, nowMs: number): number {
  return Math.round(nowMs - arrival.monotonicMs);
}

function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function withRemark(flags: readonly CallFlag[], use: BilledUsage): readonly CallFlag[] {
  if (use.isLater) return [...flags, 'usage_later'];
  return use.isUnread ? [...flags, 'result_unread'] : flags;
}

function joinFlags(own: readonly CallFlag[], read: readonly CallFlag[]): readonly CallFlag[] {
  return read.length === 0 ? own : [...new Set([...own, ...read])];
}

/** Looks in the logged headers first, which need no further copy. */
function readRequestId(
  kept: readonly (readonly [string, string])[],
  head: AnswerHead | null,
  names: readonly string[],
): string | null {
  for (const name of names) {
    for (const [keptName, value] of kept) if (keptName === name) return value;
    const value = head?.header(name) ?? null;
    if (value !== null) return copyLatin1(value);
  }
  return null;
}

function keepResponseHeaders(head: AnswerHead): [string, string][] {
  const kept: [string, string][] = [];
  const { names, rawHeaders } = head;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (name?.isKeptOfAnswer === true) kept.push([name.lower, copyLatin1(rawHeaders[index * 2 + 1] ?? '')]);
  }
  return kept;
}
