/** What the Costs page offers to filter by; metadata keys are offered by the filter bar itself. */
import type { FilterField } from '../../components/filter-bar.tsx';

export const FILTER_FIELDS: readonly FilterField[] = [
  { field: 'model', label: 'Model' },
  { field: 'model_requested', label: 'Model, as requested' },
  { field: 'provider', label: 'Provider' },
  { field: 'key_id', label: 'API key (number)' },
  { field: 'endpoint', label: 'Endpoint' },
  { field: 'span_key', label: 'Step' },
  { field: 'span_name', label: 'Span name' },
  { field: 'client', label: 'Client' },
  { field: 'outcome', label: 'Outcome' },
  { field: 'status', label: 'HTTP status' },
  { field: 'trace_id', label: 'Trace id' },
  { field: 'total_cost', label: 'Cost' },
  { field: 'service_tier', label: 'Service tier' },
];
