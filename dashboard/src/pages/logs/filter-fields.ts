/** The fields that the form of the Logs' filters offers; the grammar knows every column. */
import type { FilterField } from '../../components/filter-bar.tsx';

export const FILTER_FIELDS: readonly FilterField[] = [
  { field: 'model', label: 'Model' },
  { field: 'model_requested', label: 'Model asked for' },
  { field: 'provider', label: 'Provider' },
  { field: 'outcome', label: 'Outcome' },
  { field: 'closed_before', label: 'Client left before (head, first_byte, end)' },
  { field: 'status', label: 'HTTP status' },
  { field: 'error_type', label: 'Error type' },
  { field: 'span_name', label: 'Span name' },
  { field: 'span_path', label: 'Span path' },
  { field: 'trace_id', label: 'Trace id' },
  { field: 'endpoint', label: 'Endpoint' },
  { field: 'client', label: 'Client' },
  { field: 'client_address', label: 'Client’s IP address' },
  { field: 'key_id', label: 'Key (number)' },
  { field: 'streamed', label: 'Streamed' },
  { field: 'cost_status', label: 'Cost status' },
  { field: 'total_cost', label: 'Cost' },
  { field: 'input_tokens', label: 'Input tokens' },
  { field: 'output_tokens', label: 'Output tokens' },
  { field: 'cache_read_input_tokens', label: 'Tokens read from cache' },
  { field: 'duration_ms', label: 'Duration in ms' },
  { field: 'first_token_ms', label: 'First token in ms' },
  { field: 'path', label: 'Path' },
  { field: 'flags', label: 'Remark' },
];
