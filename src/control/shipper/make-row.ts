/** The row of a call, from its beginning, ending and price. Pure. */

import type { PricedCall } from '../../pricing/billable-call.ts';
import type { CallBegin, CallCheckpoint, CallEnd } from '../../vocabulary/call-record.ts';
import { MAX_SKEW_MS } from '../../vocabulary/clock.ts';
import {
  addClasses,
  type CallFlag,
  type ClassQuantities,
  hasFinalUsage,
  isWholeResult,
  type JsonObject,
  type ReportedUsage,
  type UsageClass,
} from '../../vocabulary/token-usage.ts';
import { formatUsd, type PicoUsd } from '../../vocabulary/usd.ts';
import { readSpanPath } from '../log/span-path.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import { writeStoredUsage } from '../store/stored-usage.ts';

/** An ending without what is unknown for an interrupted call. */
export type KnownEnd = Omit<CallEnd, 'respondedAtMs' | 'durationMs' | 'responseBytes' | 'requestBytes'> & {
  readonly respondedAtMs: number | null;
  readonly durationMs: number | null;
  readonly requestBytes: number | null;
  readonly responseBytes: number | null;
};

/** From the last checkpoint. A whole result that can be fetched again counts once, a partial one not at all. */
export function interruptedEnd(begin: CallBegin, checkpoint: CallCheckpoint | null): KnownEnd {
  const reported: ReportedUsage | null = checkpoint?.reading ?? null;
  const result = reported?.laterResult ?? null;
  const isFinal = isWholeResult(reported, !begin.billed);
  const isPartOfResult = !begin.billed && result !== null && (!isFinal || result.lacksUsage === true);
  const remarks: readonly CallFlag[] =
    begin.billed && result?.isFinal === false ? ['usage_later'] : isPartOfResult ? ['result_unread'] : [];
  const usage = isPartOfResult ? null : (reported?.usage ?? null);
  return {
    id: begin.id,
    status: checkpoint?.status ?? null,
    outcome: 'interrupted',
    errorType: reported?.error?.type ?? null,
    errorMessage: reported?.error?.message ?? null,
    providerRequestId: null,
    modelRequested: begin.modelRequested,
    streamed: begin.streamed,
    model: reported?.model ?? null,
    serviceTier: reported?.serviceTier ?? null,
    speed: reported?.speed ?? null,
    inferenceGeo: reported?.inferenceGeo ?? null,
    usage,
    usageSource: usage === null ? 'none' : reported !== null && hasFinalUsage(reported) ? 'provider' : 'partial',
    ...(isFinal && result !== null && usage !== null ? { billedOnceAs: result.id } : {}),
    flags: [...new Set([...begin.flags, ...remarks, ...(reported?.flags ?? [])])],
    respondedAtMs: null,
    durationMs: null,
    connectMs: null,
    headersMs: null,
    firstByteMs: null,
    firstTokenMs: null,
    overheadUs: null,
    requestBytes: null,
    responseBytes: checkpoint?.responseBytes ?? null,
    requestHeaders: [],
    responseHeaders: [],
  };
}

/** The leaf's name: the header, else the requested model, the serving model, or the endpoint. */
export function spanNameOf(begin: CallBegin, end: Pick<KnownEnd, 'model' | 'modelRequested'> | null): string {
  return begin.spanName ?? end?.modelRequested ?? begin.modelRequested ?? end?.model ?? begin.endpoint;
}

export function makeRow(begin: CallBegin, end: KnownEnd, priced: PricedCall, pricedAtMs: number): LlmRequestRow {
  const span = begin.spanPath === null ? null : readSpanPath(begin.spanPath);
  const flags = new Set<CallFlag>(end.flags);
  if (span?.isCut === true) flags.add('span_cut');
  // A call cannot be stored before it came, so a clock was wrong.
  if (begin.requestedAtMs > pricedAtMs + MAX_SKEW_MS) flags.add('clock_skew');
  return {
    id: begin.id,
    requested_at: new Date(begin.requestedAtMs),
    account_id: begin.accountId,
    key_id: begin.keyId,
    node: begin.node,
    client: begin.client,
    client_address: begin.clientAddress ?? null,
    provider: begin.provider,
    provider_alias: begin.providerAlias,
    endpoint: begin.endpoint,
    method: begin.method,
    path: begin.path,
    model: end.model,
    model_requested: end.modelRequested,
    billing_model: priced.billingModel,
    streamed: end.streamed,
    service_tier: end.serviceTier,
    speed: end.speed,
    is_batch: begin.isBatch,
    region: begin.region,
    inference_geo: end.inferenceGeo,
    attempt: begin.attempt,
    status: end.status,
    outcome: end.outcome,
    closed_before: end.closedBefore ?? null,
    error_type: end.errorType,
    error_message: end.errorMessage,
    provider_request_id: end.providerRequestId,
    flags: [...flags],
    trace_id: begin.traceId,
    trace_source: begin.traceSource ?? null,
    span_path: begin.spanPath,
    span_key: span?.key ?? null,
    span_name: spanNameOf(begin, end),
    connection_id: begin.connectionId ?? null,
    answer_id: end.answerId ?? null,
    agent: begin.agent ?? null,
    agent_session: begin.agentSession ?? null,
    agent_path: begin.agentPath ?? null,
    agent_turn: begin.agentTurn ?? null,
    raw_metadata: Object.fromEntries(begin.metadata),
    indexed_metadata: {},
    ...usageColumns(end),
    estimated_tokens: null,
    input_cost: money(priced.inputCost),
    cache_read_cost: money(priced.cacheReadCost),
    cache_creation_cost: money(priced.cacheCreationCost),
    output_cost: money(priced.outputCost),
    other_cost: money(priced.otherCost),
    total_cost: money(priced.totalCost),
    known_cost: money(priced.knownCost),
    cost_status: priced.costStatus,
    cost_lines: priced.lines,
    estimated_cost: null,
    price_version: priced.priceVersion,
    priced_at: new Date(pricedAtMs),
    responded_at: end.respondedAtMs === null ? null : new Date(end.respondedAtMs),
    duration_ms: whole(end.durationMs),
    connect_ms: whole(end.connectMs),
    headers_ms: whole(end.headersMs),
    first_byte_ms: whole(end.firstByteMs),
    first_token_ms: whole(end.firstTokenMs),
    overhead_us: whole(end.overheadUs),
    request_bytes: whole(end.requestBytes),
    response_bytes: whole(end.responseBytes),
  };
}

const CACHE_READ: readonly UsageClass[] = ['cache_read', 'cache_read_audio', 'cache_read_image', 'cache_read_video'];
const CACHE_CREATION: readonly UsageClass[] = [
  'cache_creation_5m',
  'cache_creation_30m',
  'cache_creation_1h',
  'cache_creation_12h',
];

/** Sums over all models; `usage` has every class by model. */
function usageColumns(end: KnownEnd) {
  const others = end.usage?.others ?? [];
  const classes = others.reduce((sum, other) => addClasses(sum, other.classes), end.usage?.classes ?? {});
  // A compacted record lacks it, as opposed to having an empty one.
  const native: JsonObject | null = end.flags.includes('compacted') ? null : (end.usage?.native ?? null);
  return {
    input_tokens: classes.input ?? null,
    cache_read_input_tokens: sumReported(classes, CACHE_READ),
    cache_creation_input_tokens: sumReported(classes, CACHE_CREATION),
    cache_creation_5m_tokens: classes.cache_creation_5m ?? null,
    cache_creation_1h_tokens: classes.cache_creation_1h ?? null,
    output_tokens: classes.output ?? null,
    reasoning_tokens: end.usage?.reasoning ?? null,
    usage: end.usage === null ? null : writeStoredUsage(end.usage),
    native_usage: native,
    usage_source: end.usageSource,
  };
}

/** Returns null when no class was reported. */
function sumReported(classes: ClassQuantities, names: readonly UsageClass[]): number | null {
  let sum: number | null = null;
  for (const name of names) {
    const quantity = classes[name];
    if (quantity !== undefined) sum = (sum ?? 0) + quantity;
  }
  return sum;
}

function money(pico: PicoUsd | null): string | null {
  return pico === null ? null : formatUsd(pico);
}

function whole(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
