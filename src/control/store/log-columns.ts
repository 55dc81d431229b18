/**
 * The columns of `llm_requests`: COPY, filters, JSON, the API document, the dashboard and the database's comments
 * derive from these lines. A new column is a line here, a migration with the same comment, and a value in
 * `shipper/make-row.ts`. The database itself fills in `ingest_xid`.
 */
import type { ClosedBefore, Outcome, ProviderName } from '../../vocabulary/call-record.ts';
import type { CostStatus } from '../../vocabulary/cost-status.ts';
import { namesOf, recordOf } from '../../vocabulary/record-of.ts';
import type { CallFlag, JsonObject, UsageSource } from '../../vocabulary/token-usage.ts';

/** For each kind, its filter operators and its form in JSON and COPY. */
const KINDS = {
  text: 'text',
  uuid: 'uuid',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  'numeric(24,12)': 'money',
  'timestamptz(3)': 'time',
  bool: 'boolean',
  'text[]': 'text_list',
  jsonb: 'json',
} as const;

export type SqlType = keyof typeof KINDS;
export type ColumnKind = (typeof KINDS)[SqlType];

interface Column {
  /** The type in the migration. */
  readonly sql: SqlType | `${SqlType} not null`;
  /** The column's comment in the database, without the full stop. */
  readonly about: string;
}

export const LOG_COLUMNS = {
  id: { sql: 'uuid not null', about: 'UUIDv7 made when the call arrived; its millisecond is requested_at' },
  requested_at: { sql: 'timestamptz(3) not null', about: 'When the call arrived at the gateway' },
  account_id: { sql: 'int4 not null', about: 'Owner of the key that was used' },
  key_id: { sql: 'int4 not null', about: 'The gateway key that was used' },
  node: { sql: 'text not null', about: 'Name of the machine that proxied the call' },
  client: { sql: 'text', about: 'The calling program: X-Gateway-Client, else derived from the user agent' },
  client_address: {
    sql: 'text',
    about: 'IP address of the client, behind trusted proxies too; null when addresses are not kept',
  },
  provider: { sql: 'text not null', about: 'Provider that the call was for' },
  provider_alias: { sql: 'text', about: 'Value of X-Gateway-Provider-Alias' },
  endpoint: {
    sql: 'text not null',
    about: 'Family of the endpoint, e.g. chat.completions; unknown when it is none of the known ones',
  },
  method: { sql: 'text not null', about: 'HTTP method' },
  path: { sql: 'text not null', about: 'Path and query as received, with secret values replaced' },
  model: { sql: 'text', about: 'Model that served the call, by the answer; null when the answer does not say' },
  model_requested: { sql: 'text', about: 'Model named by the request' },
  billing_model: { sql: 'text', about: 'Model whose price was used; null when no price was found' },
  streamed: { sql: 'bool', about: 'Whether a stream was asked for; null when the request does not say' },
  service_tier: { sql: 'text', about: 'Service tier by the answer' },
  speed: { sql: 'text', about: 'Speed (fast mode) by the answer' },
  is_batch: { sql: 'bool not null', about: 'True when the call belongs to a batch interface' },
  region: { sql: 'text', about: 'Region the call was for' },
  inference_geo: { sql: 'text', about: 'Geography of inference by the answer' },
  attempt: { sql: 'int4', about: "The client's own retry count; null when it does not say" },
  status: { sql: 'int2', about: 'HTTP status sent to the client; null when none was sent' },
  outcome: { sql: 'text not null', about: 'How the call ended; one of a closed list, ok when it went well' },
  closed_before: {
    sql: 'text',
    about: 'Of client_closed: what had not come when the client went: head, first_byte or end; null for all others',
  },
  error_type: { sql: 'text', about: "Type of the error by the provider, or the gateway's error code" },
  error_message: { sql: 'text', about: 'Message of the error, at most 1,000 characters' },
  provider_request_id: { sql: 'text', about: "The provider's id of the request" },
  flags: {
    sql: 'text[] not null',
    about: 'Remarks for who audits the record, e.g. path_repaired, inconsistent; from a closed list',
  },
  trace_id: { sql: 'text', about: 'The run the call belongs to; null outside runs' },
  trace_source: {
    sql: 'text',
    about:
      "Where trace_id comes from: header, run_token, or the source in the key's runs_from; null outside runs, and for calls of releases before 0.3",
  },
  span_path: { sql: 'text', about: 'X-Gateway-Span-Path as received' },
  span_key: {
    sql: 'text',
    about: 'Canonical span path: split, decoded, empty segments removed, encoded again; null without a path',
  },
  span_name: {
    sql: 'text not null',
    about: 'Name of the leaf: the header, else model_requested, else model, else endpoint',
  },
  connection_id: {
    sql: 'uuid',
    about:
      "The row of the websocket that the call is a turn of; that row's own id in itself, and null in all other calls",
  },
  answer_id: {
    sql: 'text',
    about:
      "The provider's id of the answer, which later calls may continue; null unless the key's runs_from has previous_response_id",
  },
  agent: { sql: 'text', about: 'Agent that made the call, of a client that tells: main, or the id of a sub-agent' },
  agent_session: {
    sql: 'text',
    about: "Session by the client's own id, which is the same after it was resumed; null where the client tells none",
  },
  agent_path: { sql: 'text', about: 'Agents from main down to agent, joined by /' },
  agent_turn: {
    sql: 'text',
    about: "Turn: what began with a person's last message, by the client's own id; null where the client tells none",
  },
  raw_metadata: {
    sql: 'jsonb not null',
    about: 'Every other X-Gateway header: name without the prefix, value as sent',
  },
  indexed_metadata: {
    sql: 'jsonb not null',
    about: 'The promoted keys under their display spelling; filters and grouping read this',
  },
  input_tokens: {
    sql: 'int8',
    about: 'Uncached text input; sound, pictures and film stand in `usage`. Null when not reported',
  },
  cache_read_input_tokens: { sql: 'int8', about: 'Input read from a cache' },
  cache_creation_input_tokens: { sql: 'int8', about: 'Input written to a cache, of all lifetimes' },
  cache_creation_5m_tokens: { sql: 'int8', about: 'The part of cache_creation_input_tokens kept for five minutes' },
  cache_creation_1h_tokens: { sql: 'int8', about: 'The part of cache_creation_input_tokens kept for one hour' },
  output_tokens: { sql: 'int8', about: 'Text output, reasoning included' },
  reasoning_tokens: { sql: 'int8', about: 'The part of output_tokens spent on reasoning; null when not reported' },
  usage: { sql: 'jsonb', about: 'Every disjoint class of usage with its quantity' },
  native_usage: { sql: 'jsonb', about: "The provider's usage object, verbatim" },
  usage_source: {
    sql: 'text not null',
    about:
      'provider: complete and reported; partial: what was reported before the answer was cut; request: counted in the request, where the provider bills by it; none',
  },
  estimated_tokens: {
    sql: 'jsonb',
    about:
      'An estimate: tokens that were counted in the bodies because nobody reported them, and how, or why there is no count (unavailable); in no other column and no sum',
  },
  input_cost: { sql: 'numeric(24,12)', about: 'US dollars for uncached input; null when not priced' },
  cache_read_cost: { sql: 'numeric(24,12)', about: 'US dollars for input read from a cache' },
  cache_creation_cost: { sql: 'numeric(24,12)', about: 'US dollars for input written to a cache' },
  output_cost: { sql: 'numeric(24,12)', about: 'US dollars for output' },
  other_cost: { sql: 'numeric(24,12)', about: 'US dollars for everything else, e.g. web searches' },
  total_cost: { sql: 'numeric(24,12)', about: 'US dollars for the call; null unless every class is priced' },
  known_cost: { sql: 'numeric(24,12)', about: 'US dollars for the classes that are priced' },
  cost_status: { sql: 'text not null', about: 'exact, partial, unpriced, no_usage or not_billed' },
  cost_lines: {
    sql: 'jsonb',
    about: 'How the cost was worked out: class, quantity, unit, rate, multiplier, amount, layer, row',
  },
  estimated_cost: {
    sql: 'numeric(24,12)',
    about:
      'An estimate: US dollars for the whole call by what was reported and estimated_tokens; in no sum. Null without one, or without a price',
  },
  price_version: { sql: 'text', about: 'Version of the price book that was used' },
  priced_at: { sql: 'timestamptz(3)', about: 'When the price was worked out' },
  responded_at: {
    sql: 'timestamptz(3)',
    about: 'requested_at plus the measured duration; null when the ending was not seen',
  },
  duration_ms: { sql: 'int8', about: 'From arrival to the last byte, by a monotonic clock' },
  connect_ms: { sql: 'int4', about: 'Until the connection to the provider was ready; null when one was reused' },
  headers_ms: { sql: 'int4', about: "Until the provider's status and headers" },
  first_byte_ms: { sql: 'int4', about: "Until the first byte of the provider's body" },
  first_token_ms: { sql: 'int4', about: 'Until the first event of a stream that carries content' },
  overhead_us: { sql: 'int8', about: "The gateway's own share before forwarding" },
  request_bytes: { sql: 'int8', about: "Size of the request's body" },
  response_bytes: { sql: 'int8', about: "Size of the answer's body" },
} as const satisfies Readonly<Record<string, Column>>;

export type LogColumn = keyof typeof LOG_COLUMNS;

type Sql<C extends LogColumn> = (typeof LOG_COLUMNS)[C]['sql'];
type IsNull<C extends LogColumn> = Sql<C> extends SqlType ? null : never;
type KindOf<C extends LogColumn> = {
  [S in SqlType]: Sql<C> extends S | `${S} not null` ? (typeof KINDS)[S] : never;
}[SqlType];

/** What the driver takes and returns. Money is decimal text. */
interface SqlValue {
  readonly text: string;
  readonly uuid: string;
  readonly integer: number;
  readonly money: string;
  readonly time: Date;
  readonly boolean: boolean;
  readonly text_list: readonly string[];
  readonly json: JsonObject;
}

/** Columns that hold less than their type could. */
interface Narrowed {
  readonly provider: ProviderName;
  readonly outcome: Outcome;
  readonly closed_before: ClosedBefore;
  readonly flags: readonly CallFlag[];
  readonly usage_source: UsageSource;
  readonly cost_status: CostStatus;
  readonly cost_lines: readonly object[];
}

export type LlmRequestRow = {
  readonly [C in LogColumn]: (C extends keyof Narrowed ? Narrowed[C] : SqlValue[KindOf<C>]) | IsNull<C>;
};

/** JSON writes a time as RFC 3339 in UTC with milliseconds. */
interface JsonForm extends Omit<SqlValue, 'time' | 'json'> {
  readonly time: string;
  readonly json: unknown;
}

/** A call that has ended, as the API sends it; null is "not reported" or "not known". */
export type LogRow = { readonly [C in LogColumn]: JsonForm[KindOf<C>] | IsNull<C> };

export const LOG_COLUMN_NAMES: readonly LogColumn[] = namesOf(LOG_COLUMNS);

const SQL_TYPES = recordOf(LOG_COLUMN_NAMES, readSqlType);

function readSqlType(name: LogColumn): SqlType {
  const { sql }: Column = LOG_COLUMNS[name];
  const type = namesOf(KINDS).find((known) => sql === known || sql === `${known} not null`);
  if (type === undefined) throw new TypeError(`${name} has no known type`);
  return type;
}

export function isLogColumn(name: string): name is LogColumn {
  return Object.hasOwn(LOG_COLUMNS, name);
}

export function sqlTypeOf(name: LogColumn): SqlType {
  return SQL_TYPES[name];
}

export function kindOf(name: LogColumn): ColumnKind {
  return KINDS[SQL_TYPES[name]];
}

export type NullableColumn = { [C in LogColumn]: Sql<C> extends SqlType ? C : never }[LogColumn];

export function isNullable(name: LogColumn): name is NullableColumn {
  return LOG_COLUMNS[name].sql === SQL_TYPES[name];
}
