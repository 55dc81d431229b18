/**
 * The last form of a refused record: which call, whose, when and how it ended. Nothing in it is free text, so any
 * identifiable call is in the log; it belongs to no run.
 */
import { type CallBegin, CLOSED_BEFORE, PROVIDER_NAMES, type ProviderName } from '../../vocabulary/call-record.ts';
import { recordOf } from '../../vocabulary/record-of.ts';
import type { CallFlag } from '../../vocabulary/token-usage.ts';
import { isNullable, type LlmRequestRow, LOG_COLUMN_NAMES } from '../store/log-columns.ts';
import { bareCall, type CallItem, type OpenItem } from './batch-item.ts';
import { toAscii } from './lesser-rows.ts';

const MAX_NODE_CHARACTERS = 64;
const MAX_STATUS = 999;
/** Replaces the endpoint and the path, which are free text. */
const UNKNOWN = 'unknown';

/** Returns null without a known provider, since its name is free text then. */
export function minimalCall(item: CallItem): CallItem | null {
  const provider = PROVIDER_NAMES.find((name) => name === item.row.provider);
  if (provider === undefined) return null;
  return bareCall(minimalRow(item.row, provider), { ...item, billedOnceAs: null });
}

const NO_VALUES = recordOf(LOG_COLUMN_NAMES.filter(isNullable), () => null);

function minimalRow(row: LlmRequestRow, provider: ProviderName): LlmRequestRow {
  const isFlag = (flag: unknown): flag is CallFlag => typeof flag === 'string' && /^[a-z_]{1,40}$/.test(flag);
  return {
    ...NO_VALUES,
    id: row.id,
    requested_at: row.requested_at,
    account_id: row.account_id,
    key_id: row.key_id,
    node: safeNode(row.node),
    provider,
    endpoint: UNKNOWN,
    method: /^[A-Z]{1,10}$/.test(row.method) ? row.method : 'POST',
    path: '',
    is_batch: false,
    status: isCount(row.status) && row.status <= MAX_STATUS ? row.status : null,
    outcome: row.outcome,
    closed_before: CLOSED_BEFORE.find((known) => known === row.closed_before) ?? null,
    flags: [...new Set([...row.flags.filter(isFlag), 'sanitised' as const])],
    span_name: UNKNOWN,
    raw_metadata: {},
    indexed_metadata: {},
    usage_source: 'none',
    cost_status: 'unpriced',
    responded_at: safeTime(row.responded_at),
    duration_ms: isCount(row.duration_ms) ? row.duration_ms : null,
  };
}

/** Returns the item in ASCII, which every database can store. */
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

/** Keeps what the row needs when the process dies. */
export function minimalOpen({ begin, process }: OpenItem): OpenItem | null {
  const provider = PROVIDER_NAMES.find((name) => name === begin.provider);
  if (provider === undefined) return null;
  const minimal: CallBegin = {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    accountId: begin.accountId,
    keyId: begin.keyId,
    node: safeNode(begin.node),
    client: null,
    provider,
    providerAlias: null,
    endpoint: UNKNOWN,
    billed: true,
    method: 'POST',
    path: '',
    modelRequested: null,
    streamed: null,
    isBatch: false,
    region: null,
    attempt: null,
    traceId: null,
    spanPath: null,
    spanName: null,
    metadata: [],
    flags: ['sanitised'],
    ...(begin.ordinal === undefined ? {} : { ordinal: begin.ordinal }),
  };
  return { kind: 'open', begin: minimal, process };
}

function safeNode(node: unknown): string {
  return typeof node === 'string' ? node.replace(/[^\w.-]/g, '_').slice(0, MAX_NODE_CHARACTERS) : UNKNOWN;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The database's range covers every right clock. */
function safeTime(time: Date | null): Date | null {
  const ms = time?.getTime() ?? Number.NaN;
  return ms >= 0 && ms < Date.UTC(9999, 0, 1) ? time : null;
}
