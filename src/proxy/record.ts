/**
 * What is written down about a call: at its beginning, at checkpoints, at its end. Pure: facts in, records out; never a
 * credential, never a cost.
 */

import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../call-record.ts';
import type { KeyEntry } from '../channel.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../errors.ts';
import type { Endpoint, Provider } from '../providers/provider.ts';
import { type AskedLifetime, withAskedLifetime } from '../shapes/asked-lifetime.ts';
import { type ReportedUse, readReportedUse } from '../shapes/reported-use.ts';
import type { CallFlag, TokenUsage, UsageReading } from '../token-usage.ts';
import { copyLatin1 } from '../wire/copy-text.ts';
import { hideSecretForms } from '../wire/secret-form.ts';
import type { AcceptedRequest } from './accept.ts';
import { type AnswerEnding, isWhole } from './answer-ending.ts';
import type { AnswerHead } from './answer-head.ts';
import { type BodyCopy, KEPT_BODY_BYTES } from './body-copy.ts';
import type { GatewayHeaders } from './gateway-headers.ts';
import { hideSent } from './hide-sent.ts';
import { leadsAway } from './leading-address.ts';
import { errorOf, outcomeOf, statusSent } from './outcome.ts';
import type { Route } from './route.ts';

const MAX_ERROR_MESSAGE_CHARS = 1_000;

/** When a call came: the id's millisecond is by the clock of the process, `monotonicMs` measures durations. */
export interface Arrival {
  readonly id: string;
  readonly requestedAtMs: number;
  readonly monotonicMs: number;
  /** By the machine's clock, which shows later whether that has jumped. */
  readonly wallMs: number;
  /** The machine's clock was wrong: the time is by the database's. */
  readonly isClockCorrected: boolean;
}

/** What the request's body says about the call. */
export interface BodyFacts {
  readonly model: string | null;
  readonly streamed: boolean | null;
  /** What it asks for; absent where it asks for none. */
  readonly serviceTier?: string;
}

export interface CallFacts {
  readonly arrival: Arrival;
  readonly key: KeyEntry;
  readonly node: string;
  readonly clientAddress: string | null;
  readonly request: AcceptedRequest;
  readonly headers: GatewayHeaders;
  readonly route: Route;
}

/** What is remarked before the call is forwarded; `more` is of its body. */
export function beginFlags({ arrival, headers, route }: CallFacts, more: readonly CallFlag[]): CallFlag[] {
  const flags: CallFlag[] = [...headers.flags, ...more];
  if (arrival.isClockCorrected) flags.push('clock_skew');
  if (route.isRepaired) flags.push('path_repaired');
  return flags;
}

export function describeBegin(
  facts: CallFacts,
  body: BodyFacts,
  flags: readonly CallFlag[],
  ordinal: number,
): CallBegin {
  const { arrival, key, request, headers, route } = facts;
  const { endpoint } = route;
  return {
    id: arrival.id,
    requestedAtMs: arrival.requestedAtMs,
    accountId: key.accountId,
    keyId: key.keyId,
    node: facts.node,
    client: headers.client,
    clientAddress: facts.clientAddress,
    provider: route.provider.name,
    providerAlias: headers.providerAlias,
    endpoint: endpoint.family,
    billed: endpoint.billed,
    method: request.method,
    path: route.loggedPath,
    modelRequested: readRequestedModel(endpoint, body, request.query),
    streamed: endpoint.streamed === 'body' ? body.streamed : endpoint.streamed,
    isBatch: endpoint.isBatch,
    region: route.region,
    attempt: readAttempt(request),
    traceId: headers.traceId,
    spanPath: headers.spanPath,
    spanName: headers.spanName,
    metadata: headers.metadata,
    flags,
    ordinal,
  };
}

/** Realtime sessions, and calls by WebRTC, have it in their query. */
function readRequestedModel({ model }: Endpoint, body: BodyFacts, query: string): string | null {
  if (model.in === 'path') return hideSecretForms(model.name);
  const inQuery = model.in === 'body' && query !== '' ? new URLSearchParams(query).get('model') : null;
  return body.model ?? (inQuery === null || inQuery === '' ? null : hideSecretForms(inQuery));
}

/** The client's own count of tries, from 0: OpenAI-style SDKs send it as such, AWS's as `attempt=1; max=3`. */
function readAttempt(request: AcceptedRequest): number | null {
  const retries = request.header('x-stainless-retry-count');
  if (retries !== undefined && /^\d{1,4}$/.test(retries)) return Number(retries);
  const attempt = /attempt=(\d{1,4})/.exec(request.header('amz-sdk-request') ?? '')?.[1];
  return attempt === undefined ? null : Number(attempt) - 1;
}

/** What an answer, or a session, tells of itself. Times count from the call's arrival. */
export interface AnswerFacts {
  readonly head: AnswerHead | null;
  readonly reading: UsageReading | null;
  readonly responseBytes: number;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
}

export function describeCheckpoint(
  arrival: Arrival,
  answer: AnswerFacts,
  reading: UsageReading,
  nowMs: number,
): CallCheckpoint {
  return {
    id: arrival.id,
    status: answer.head?.status ?? 0,
    responseBytes: answer.responseBytes,
    elapsedMs: Math.round(nowMs - arrival.monotonicMs),
    reading,
  };
}

export interface EndFacts {
  readonly ending: AnswerEnding;
  readonly answer: AnswerFacts;
  readonly body: BodyFacts;
  /** What was sent, where the endpoint is billed by that. */
  readonly sentUsage: TokenUsage | null;
  /** For how long the request asked its prompt to be cached. Absent: a session, whose formats do not ask. */
  readonly readSentLifetime?: () => AskedLifetime;
  readonly flags: readonly CallFlag[];
  readonly overheadUs: number;
  readonly requestBytes: number;
  readonly nowMs: number;
}

export function describeEnd(facts: CallFacts, begin: CallBegin, end: EndFacts): CallEnd {
  const { answer, ending } = end;
  const { reading, head } = answer;
  const responseHeaders = head === null ? [] : keepResponseHeaders(head);
  const status = statusSent(ending, head);
  const outcome = outcomeOf(ending, status, reading);
  const error = errorOf(ending, reading, head, facts.route.provider);
  const durationMs = durationOf(facts.arrival, end.nowMs);
  const use = readReportedUse(reading, {
    fetchesResult: facts.route.endpoint.fetchesResult === true,
    isFinishedByPath: facts.route.endpoint.resultId !== undefined,
    contentType: head?.header('content-type') ?? null,
    isComplete: isWhole(ending),
    sentUsage: end.sentUsage,
    status,
  });
  const record: CallEnd = {
    id: begin.id,
    status,
    outcome,
    errorType: error.type,
    errorMessage: error.message?.slice(0, MAX_ERROR_MESSAGE_CHARS) ?? null,
    providerRequestId: readRequestId(responseHeaders, head, facts.route.provider.requestIdHeaders),
    modelRequested: begin.modelRequested ?? end.body.model,
    streamed: begin.streamed ?? end.body.streamed,
    model: reading?.model ?? null,
    serviceTier: reading?.serviceTier ?? askedTier(facts.route.provider, end.body),
    speed: reading?.speed ?? null,
    inferenceGeo: reading?.inferenceGeo ?? null,
    usage:
      use.usage === null || end.readSentLifetime === undefined
        ? use.usage
        : withAskedLifetime(use.usage, end.readSentLifetime),
    usageSource: use.usageSource,
    flags: joinFlags(
      withRemark(head !== null && leadsAway(head) ? [...end.flags, 'leads_away'] : end.flags, use),
      reading?.flags ?? [],
    ),
    respondedAtMs: facts.arrival.requestedAtMs + durationMs,
    durationMs,
    connectMs: round(answer.connectMs),
    headersMs: round(answer.headersMs),
    firstByteMs: round(answer.firstByteMs),
    firstTokenMs: round(answer.firstTokenMs),
    overheadUs: end.overheadUs,
    requestBytes: end.requestBytes,
    responseBytes: answer.responseBytes,
    requestHeaders: facts.headers.kept,
    responseHeaders,
  };
  // Not spread in above: each member behind a spread is added one by one.
  const closed = ending.kind === 'client-gone' ? { ...record, closedBefore: ending.before } : record;
  return use.billedOnceAs === null ? closed : { ...closed, billedOnceAs: use.billedOnceAs };
}

function askedTier(provider: Provider, { serviceTier }: BodyFacts): string | null {
  return provider.isTierAsAsked === true ? (serviceTier ?? null) : null;
}

/** The end of a call that the gateway refused after its account and provider were known. */
export function describeRejection(facts: CallFacts, begin: CallBegin, code: GatewayErrorCode, nowMs: number): CallEnd {
  const durationMs = durationOf(facts.arrival, nowMs);
  return {
    id: begin.id,
    status: GATEWAY_ERRORS[code].status,
    outcome: code === 'gateway_defect' ? 'gateway_error' : 'rejected',
    errorType: code,
    errorMessage: GATEWAY_ERRORS[code].message,
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
    respondedAtMs: facts.arrival.requestedAtMs + durationMs,
    durationMs,
    connectMs: null,
    headersMs: null,
    firstByteMs: null,
    firstTokenMs: null,
    overheadUs: null,
    requestBytes: 0,
    responseBytes: 0,
    requestHeaders: facts.headers.kept,
    responseHeaders: [],
  };
}

/** Monotonic: `responded_at` is `requested_at` and this, so that it is never before it. */
function durationOf(arrival: Arrival, nowMs: number): number {
  return Math.round(nowMs - arrival.monotonicMs);
}

function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function withRemark(flags: readonly CallFlag[], use: ReportedUse): readonly CallFlag[] {
  if (use.isLater) return [...flags, 'usage_later'];
  return use.isUnread ? [...flags, 'result_unread'] : flags;
}

function joinFlags(own: readonly CallFlag[], read: readonly CallFlag[]): readonly CallFlag[] {
  return read.length === 0 ? own : [...new Set([...own, ...read])];
}

/** `kept` are the answer's headers that the log keeps; most ids are among them and need no further copy. */
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

/** The request's body for the log: whole, or its head and tail. */
export function describeHeldBody(begin: CallBegin, { request, headers }: CallFacts, bytes: Buffer): CallBody {
  const half = KEPT_BODY_BYTES / 2;
  const isWhole = bytes.length <= KEPT_BODY_BYTES;
  return {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    direction: 'request',
    contentType: hideSent(request.header('content-type') ?? '', headers.sent) || null,
    contentEncoding: request.header('content-encoding') ?? null,
    totalBytes: bytes.length,
    headBytes: isWhole ? bytes.length : half,
    bytes: isWhole ? bytes : Buffer.concat([bytes.subarray(0, half), bytes.subarray(bytes.length - half)]),
  };
}

export function describeCopiedBody(
  begin: CallBegin,
  direction: CallBody['direction'],
  header: (name: string) => string | null | undefined,
  copy: BodyCopy,
): CallBody {
  const { bytes, headBytes } = copy.read();
  return {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    direction,
    contentType: header('content-type') ?? null,
    contentEncoding: header('content-encoding') ?? null,
    totalBytes: copy.totalBytes,
    headBytes,
    bytes,
  };
}
