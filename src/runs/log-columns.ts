/**
 * The columns of `llm_requests` as filters, JSON and the command line know them: one name each, one kind each. A test
 * compares this list with the table.
 */

/** What a column's values are: it decides the filter's operators and the form in JSON. */
export type ColumnKind = 'text' | 'uuid' | 'integer' | 'money' | 'time' | 'boolean' | 'text_list' | 'json';

export const LOG_COLUMNS = {
  id: 'uuid',
  requested_at: 'time',
  account_id: 'integer',
  key_id: 'integer',
  node: 'text',
  client: 'text',
  provider: 'text',
  provider_alias: 'text',
  endpoint: 'text',
  method: 'text',
  path: 'text',
  model: 'text',
  model_requested: 'text',
  billing_model: 'text',
  streamed: 'boolean',
  service_tier: 'text',
  speed: 'text',
  is_batch: 'boolean',
  region: 'text',
  inference_geo: 'text',
  attempt: 'integer',
  status: 'integer',
  outcome: 'text',
  error_type: 'text',
  error_message: 'text',
  provider_request_id: 'text',
  flags: 'text_list',
  trace_id: 'text',
  span_path: 'text',
  span_key: 'text',
  span_name: 'text',
  raw_metadata: 'json',
  indexed_metadata: 'json',
  input_tokens: 'integer',
  cache_read_input_tokens: 'integer',
  cache_creation_input_tokens: 'integer',
  cache_creation_5m_tokens: 'integer',
  cache_creation_1h_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
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
  duration_ms: 'integer',
  connect_ms: 'integer',
  headers_ms: 'integer',
  first_byte_ms: 'integer',
  first_token_ms: 'integer',
  overhead_us: 'integer',
  request_bytes: 'integer',
  response_bytes: 'integer',
} as const satisfies Readonly<Record<string, ColumnKind>>;

export type LogColumn = keyof typeof LOG_COLUMNS;

export function isLogColumn(name: string): name is LogColumn {
  return Object.hasOwn(LOG_COLUMNS, name);
}
