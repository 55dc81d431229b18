/**
 * The last form of a record that the database has refused in all others: which call it was, whose, when and how it
 * ended. Nothing in it is free in form, so a call that can be named at all is in the log; it belongs to no run.
 */
import { type CallBegin, CLOSED_BEFORE, PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import { encodeCopyText } from '../store/copy-text.ts';
import type { LlmRequestRow } from '../store/llm-request-row.ts';
import type { CallFlag } from '../token-usage.ts';
import type { CallItem, OpenItem } from './batch-item.ts';
import { toAscii } from './lesser-rows.ts';

const MAX_NODE_CHARACTERS = 64;
const MAX_STATUS = 999;
/** Of the endpoint and the path, which name a family and a place in it, and may hold anything. */
const UNKNOWN = 'unknown';

/** Null when it names no provider of ours: then even that is a word of somebody's. */
export function bareCall(item: CallItem): CallItem | null {
  const provider = PROVIDER_NAMES.find((name) => name === item.row.provider);
  if (provider === undefined) return null;
  const row = bareRow(item.row, provider);
  return {
    kind: 'call',
    row,
    copyText: encodeCopyText([row]),
    billedOnceAs: null,
    bodies: [],
    requestHeaders: [],
    responseHeaders: [],
  };
}

function bareRow(row: LlmRequestRow, provider: ProviderName): LlmRequestRow {
  const { id, requested_at, account_id, key_id, outcome } = row;
  const isFlag = (flag: unknown): flag is CallFlag => typeof flag === 'string' && /^[a-z_]{1,40}$/.test(flag);
  return {
    ...{ id, requested_at, account_id, key_id, outcome },
    ...{ node: bareNode(row.node), client: null, client_address: null },
    ...{ provider, provider_alias: null },
    ...{ endpoint: UNKNOWN, method: /^[A-Z]{1,10}$/.test(row.method) ? row.method : 'POST', path: '' },
    ...{ model: null, model_requested: null, billing_model: null, streamed: null, service_tier: null, speed: null },
    ...{ is_batch: false, region: null, inference_geo: null, attempt: null },
    status: isCount(row.status) && row.status <= MAX_STATUS ? row.status : null,
    closed_before: CLOSED_BEFORE.find((known) => known === row.closed_before) ?? null,
    ...{ error_type: null, error_message: null, provider_request_id: null },
    flags: [...new Set([...row.flags.filter(isFlag), 'sanitised' as const])],
    ...{ trace_id: null, span_path: null, span_key: null, span_name: UNKNOWN },
    ...{ raw_metadata: {}, indexed_metadata: {} },
    ...{ input_tokens: null, cache_read_input_tokens: null, cache_creation_input_tokens: null },
    ...{ cache_creation_5m_tokens: null, cache_creation_1h_tokens: null, output_tokens: null, reasoning_tokens: null },
    ...{ usage: null, native_usage: null, usage_source: 'none', estimated_tokens: null },
    ...{ input_cost: null, cache_read_cost: null, cache_creation_cost: null, output_cost: null, other_cost: null },
    ...{ total_cost: null, known_cost: null, cost_status: 'unpriced', cost_lines: null, estimated_cost: null },
    ...{ price_version: null, priced_at: null },
    responded_at: bareTime(row.responded_at),
    duration_ms: isCount(row.duration_ms) ? row.duration_ms : null,
    ...{ connect_ms: null, headers_ms: null, first_byte_ms: null, first_token_ms: null, overhead_us: null },
    ...{ request_bytes: null, response_bytes: null },
  };
}

/** The same in ASCII, which every database can hold. */
export function plainOpen({ begin, process }: OpenItem): OpenItem {
  const plain: CallBegin = {
    ...begin,
    client: mapped(begin.client),
    modelRequested: mapped(begin.modelRequested),
    path: toAscii(begin.path),
    traceId: mapped(begin.traceId),
    spanPath: mapped(begin.spanPath),
    spanName: mapped(begin.spanName),
    metadata: begin.metadata.map(([name, value]) => [toAscii(name), toAscii(value)]),
    flags: [...new Set([...begin.flags, 'sanitised' as const])],
  };
  return { kind: 'open', begin: plain, process };
}

function mapped(text: string | null): string | null {
  return text === null ? null : toAscii(text);
}

/** An open call keeps what its row needs when its process dies. */
export function bareOpen({ begin, process }: OpenItem): OpenItem | null {
  const provider = PROVIDER_NAMES.find((name) => name === begin.provider);
  if (provider === undefined) return null;
  const bare: CallBegin = {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    accountId: begin.accountId,
    keyId: begin.keyId,
    node: bareNode(begin.node),
    client: null,
    ...{ provider, providerAlias: null },
    endpoint: UNKNOWN,
    billed: true,
    method: 'POST',
    path: '',
    ...{ modelRequested: null, streamed: null, isBatch: false, region: null, attempt: null },
    ...{ traceId: null, spanPath: null, spanName: null },
    metadata: [],
    flags: ['sanitised'],
    ...(begin.ordinal === undefined ? {} : { ordinal: begin.ordinal }),
  };
  return { kind: 'open', begin: bare, process };
}

function bareNode(node: unknown): string {
  return typeof node === 'string' ? node.replace(/[^\w.-]/g, '_').slice(0, MAX_NODE_CHARACTERS) : UNKNOWN;
}

/** `int8` holds every safe integer. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The database's times reach further than those of a clock that is right; a clock that is not says nothing. */
function bareTime(time: Date | null): Date | null {
  const ms = time?.getTime() ?? Number.NaN;
  return ms >= 0 && ms < Date.UTC(9999, 0, 1) ? time : null;
}
