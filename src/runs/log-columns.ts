/**
 * The columns of `llm_requests` as filters, JSON and the command line know them: one name, one kind and one
 * sentence each. A test compares the list with the table.
 */

/** What a column's values are: it decides the filter's operators and the form in JSON. */
export type ColumnKind = 'text' | 'uuid' | 'integer' | 'money' | 'time' | 'boolean' | 'text_list' | 'json';

export const LOG_COLUMNS = {
  id: { kind: 'uuid', about: 'UUIDv7 made when the call arrived; its millisecond is requested_at' },
  requested_at: { kind: 'time', about: 'When the call arrived at the gateway' },
  account_id: { kind: 'integer', about: 'Owner of the key that was used' },
  key_id: { kind: 'integer', about: 'The gateway key that was used' },
  node: { kind: 'text', about: 'Name of the machine that proxied the call' },
  client: { kind: 'text', about: 'The calling program: X-Gateway-Client, else derived from the user agent' },
  client_address: {
    kind: 'text',
    about: 'IP address of the client, behind trusted proxies too; null when addresses are not kept',
  },
  provider: { kind: 'text', about: 'Provider that the call was for' },
  provider_alias: { kind: 'text', about: 'Value of X-Gateway-Provider-Alias' },
  endpoint: {
    kind: 'text',
    about: 'Family of the endpoint, e.g. chat.completions; unknown when it is none of the known ones',
  },
  method: { kind: 'text', about: 'HTTP method' },
  path: { kind: 'text', about: 'Path and query as received, with secret values replaced' },
  model: { kind: 'text', about: 'Model that served the call, by the answer; null when the answer does not say' },
  model_requested: { kind: 'text', about: 'Model named by the request' },
  billing_model: { kind: 'text', about: 'Model whose price was used; null when no price was found' },
  streamed: { kind: 'boolean', about: 'Whether a stream was asked for; null when the request does not say' },
  service_tier: { kind: 'text', about: 'Service tier by the answer' },
  speed: { kind: 'text', about: 'Speed (fast mode) by the answer' },
  is_batch: { kind: 'boolean', about: 'True when the call belongs to a batch interface' },
  region: { kind: 'text', about: 'Region the call was for' },
  inference_geo: { kind: 'text', about: 'Geography of inference by the answer' },
  attempt: { kind: 'integer', about: "The client's own retry count; null when it does not say" },
  status: { kind: 'integer', about: 'HTTP status sent to the client; null when none was sent' },
  outcome: { kind: 'text', about: 'How the call ended; one of a closed list, ok when it went well' },
  closed_before: {
    kind: 'text',
    about: 'Of client_closed: what had not come when the client went: head, first_byte or end; null for all others',
  },
  error_type: { kind: 'text', about: "Type of the error by the provider, or the gateway's error code" },
  error_message: { kind: 'text', about: 'Message of the error, at most 1,000 characters' },
  provider_request_id: { kind: 'text', about: "The provider's id of the request" },
  flags: {
    kind: 'text_list',
    about: 'Remarks for who audits the record, e.g. path_repaired, inconsistent; from a closed list',
  },
  trace_id: { kind: 'text', about: 'The run the call belongs to; null outside runs' },
  span_path: { kind: 'text', about: 'X-Gateway-Span-Path as received' },
  span_key: {
    kind: 'text',
    about: 'Canonical span path: split, decoded, empty segments removed, encoded again; null without a path',
  },
  span_name: { kind: 'text', about: 'Name of the leaf: the header, else model_requested, else model, else endpoint' },
  raw_metadata: { kind: 'json', about: 'Every other X-Gateway header: name without the prefix, value as sent' },
  indexed_metadata: {
    kind: 'json',
    about: 'The promoted keys under their display spelling; filters and grouping read this',
  },
  input_tokens: {
    kind: 'integer',
    about: 'Uncached text input; sound, pictures and film stand in `usage`. Null when not reported',
  },
  cache_read_input_tokens: { kind: 'integer', about: 'Input read from a cache' },
  cache_creation_input_tokens: { kind: 'integer', about: 'Input written to a cache, of all lifetimes' },
  cache_creation_5m_tokens: { kind: 'integer', about: 'The part of cache_creation_input_tokens kept for five minutes' },
  cache_creation_1h_tokens: { kind: 'integer', about: 'The part of cache_creation_input_tokens kept for one hour' },
  output_tokens: { kind: 'integer', about: 'Text output, reasoning included' },
  reasoning_tokens: { kind: 'integer', about: 'The part of output_tokens spent on reasoning; null when not reported' },
  usage: { kind: 'json', about: 'Every disjoint class of usage with its quantity' },
  native_usage: { kind: 'json', about: "The provider's usage object, verbatim" },
  usage_source: {
    kind: 'text',
    about:
      'provider: complete and reported; partial: what was reported before the answer was cut; request: counted in the request, where the provider bills by it; none',
  },
  estimated_tokens: {
    kind: 'json',
    about:
      'An estimate: tokens that were counted in the bodies because nobody reported them, and how, or why there is no count (unavailable); in no other column and no sum',
  },
  input_cost: { kind: 'money', about: 'US dollars for uncached input; null when not priced' },
  cache_read_cost: { kind: 'money', about: 'US dollars for input read from a cache' },
  cache_creation_cost: { kind: 'money', about: 'US dollars for input written to a cache' },
  output_cost: { kind: 'money', about: 'US dollars for output' },
  other_cost: { kind: 'money', about: 'US dollars for everything else, e.g. web searches' },
  total_cost: { kind: 'money', about: 'US dollars for the call; null unless every class is priced' },
  known_cost: { kind: 'money', about: 'US dollars for the classes that are priced' },
  cost_status: { kind: 'text', about: 'exact, partial, unpriced, no_usage or not_billed' },
  cost_lines: {
    kind: 'json',
    about: 'How the cost was worked out: class, quantity, unit, rate, multiplier, amount, layer, row',
  },
  estimated_cost: {
    kind: 'money',
    about:
      'An estimate: US dollars for the whole call by what was reported and estimated_tokens; in no sum. Null without one, or without a price',
  },
  price_version: { kind: 'text', about: 'Version of the price book that was used' },
  priced_at: { kind: 'time', about: 'When the price was worked out' },
  responded_at: { kind: 'time', about: 'requested_at plus the measured duration; null when the ending was not seen' },
  duration_ms: { kind: 'integer', about: 'From arrival to the last byte, by a monotonic clock' },
  connect_ms: { kind: 'integer', about: 'Until the connection to the provider was ready; null when one was reused' },
  headers_ms: { kind: 'integer', about: "Until the provider's status and headers" },
  first_byte_ms: { kind: 'integer', about: "Until the first byte of the provider's body" },
  first_token_ms: { kind: 'integer', about: 'Until the first event of a stream that carries content' },
  overhead_us: { kind: 'integer', about: "The gateway's own share before forwarding" },
  request_bytes: { kind: 'integer', about: "Size of the request's body" },
  response_bytes: { kind: 'integer', about: "Size of the answer's body" },
} as const satisfies Readonly<Record<string, { readonly kind: ColumnKind; readonly about: string }>>;

export type LogColumn = keyof typeof LOG_COLUMNS;

/** What a value of the kind is in JSON. Money is decimal text, a time is RFC 3339. */
interface ValueByKind {
  readonly text: string;
  readonly uuid: string;
  readonly integer: number;
  readonly money: string;
  readonly time: string;
  readonly boolean: boolean;
  readonly text_list: readonly string[];
  readonly json: unknown;
}

/** One call as the API sends it; null is "not reported" or "not known". */
export type LogRow = { readonly [C in LogColumn]: ValueByKind[(typeof LOG_COLUMNS)[C]['kind']] | null };

export function isLogColumn(name: string): name is LogColumn {
  return Object.hasOwn(LOG_COLUMNS, name);
}
