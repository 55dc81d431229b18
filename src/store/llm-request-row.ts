/**
 * One row of `llm_requests`, as it is inserted and as `select` returns it: money is decimal text, times are Dates. What
 * each column means stands in the migration, as its comment.
 */

import type { ClosedBefore, Outcome, ProviderName } from '../call-record.ts';
import type { CostStatus } from '../cost-status.ts';
import type { CallFlag, JsonObject, UsageSource } from '../token-usage.ts';

export interface LlmRequestRow {
  readonly id: string;
  readonly requested_at: Date;
  readonly account_id: number;
  readonly key_id: number;
  readonly node: string;
  readonly client: string | null;
  readonly client_address: string | null;
  readonly provider: ProviderName;
  readonly provider_alias: string | null;
  readonly endpoint: string;
  readonly method: string;
  readonly path: string;
  readonly model: string | null;
  readonly model_requested: string | null;
  readonly billing_model: string | null;
  readonly streamed: boolean | null;
  readonly service_tier: string | null;
  readonly speed: string | null;
  readonly is_batch: boolean;
  readonly region: string | null;
  readonly inference_geo: string | null;
  readonly attempt: number | null;
  readonly status: number | null;
  readonly outcome: Outcome;
  readonly closed_before: ClosedBefore | null;
  readonly error_type: string | null;
  readonly error_message: string | null;
  readonly provider_request_id: string | null;
  readonly flags: readonly CallFlag[];
  readonly trace_id: string | null;
  readonly span_path: string | null;
  readonly span_key: string | null;
  readonly span_name: string;
  readonly raw_metadata: JsonObject;
  readonly indexed_metadata: JsonObject;
  readonly input_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly cache_creation_5m_tokens: number | null;
  readonly cache_creation_1h_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly usage: JsonObject | null;
  readonly native_usage: JsonObject | null;
  readonly usage_source: UsageSource;
  readonly estimated_tokens: JsonObject | null;
  readonly input_cost: string | null;
  readonly cache_read_cost: string | null;
  readonly cache_creation_cost: string | null;
  readonly output_cost: string | null;
  readonly other_cost: string | null;
  readonly total_cost: string | null;
  readonly known_cost: string | null;
  readonly cost_status: CostStatus;
  /** JSON: class, quantity, unit, rate, multiplier, amount, layer, row. */
  readonly cost_lines: readonly object[] | null;
  readonly estimated_cost: string | null;
  readonly price_version: string | null;
  readonly priced_at: Date | null;
  readonly responded_at: Date | null;
  readonly duration_ms: number | null;
  readonly connect_ms: number | null;
  readonly headers_ms: number | null;
  readonly first_byte_ms: number | null;
  readonly first_token_ms: number | null;
  readonly overhead_us: number | null;
  readonly request_bytes: number | null;
  readonly response_bytes: number | null;
}

/** How a column's value is written. `ingest_xid` is not among them: the database fills it in. */
export type ColumnKind = 'text' | 'texts' | 'time' | 'int2' | 'int4' | 'int8' | 'bool' | 'money' | 'json';

export const LLM_REQUEST_COLUMNS = {
  id: 'text',
  requested_at: 'time',
  account_id: 'int4',
  key_id: 'int4',
  node: 'text',
  client: 'text',
  client_address: 'text',
  provider: 'text',
  provider_alias: 'text',
  endpoint: 'text',
  method: 'text',
  path: 'text',
  model: 'text',
  model_requested: 'text',
  billing_model: 'text',
  streamed: 'bool',
  service_tier: 'text',
  speed: 'text',
  is_batch: 'bool',
  region: 'text',
  inference_geo: 'text',
  attempt: 'int4',
  status: 'int2',
  outcome: 'text',
  closed_before: 'text',
  error_type: 'text',
  error_message: 'text',
  provider_request_id: 'text',
  flags: 'texts',
  trace_id: 'text',
  span_path: 'text',
  span_key: 'text',
  span_name: 'text',
  raw_metadata: 'json',
  indexed_metadata: 'json',
  input_tokens: 'int8',
  cache_read_input_tokens: 'int8',
  cache_creation_input_tokens: 'int8',
  cache_creation_5m_tokens: 'int8',
  cache_creation_1h_tokens: 'int8',
  output_tokens: 'int8',
  reasoning_tokens: 'int8',
  usage: 'json',
  native_usage: 'json',
  usage_source: 'text',
  estimated_tokens: 'json',
  input_cost: 'money',
  cache_read_cost: 'money',
  cache_creation_cost: 'money',
  output_cost: 'money',
  other_cost: 'money',
  total_cost: 'money',
  known_cost: 'money',
  cost_status: 'text',
  cost_lines: 'json',
  estimated_cost: 'money',
  price_version: 'text',
  priced_at: 'time',
  responded_at: 'time',
  duration_ms: 'int8',
  connect_ms: 'int4',
  headers_ms: 'int4',
  first_byte_ms: 'int4',
  first_token_ms: 'int4',
  overhead_us: 'int8',
  request_bytes: 'int8',
  response_bytes: 'int8',
} as const satisfies Readonly<Record<keyof LlmRequestRow, ColumnKind>>;
