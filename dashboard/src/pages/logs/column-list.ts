/**
 * Which columns the Logs can show, what each is named, which fields of a call it needs and what its value is as a filter.
 * How they look is in `log-cell.tsx`.
 */
import {
  isLogColumn,
  kindOf,
  LOG_COLUMN_NAMES,
  LOG_COLUMNS,
  type LogColumn,
} from '../../../../src/control/store/log-columns.ts';
import { namesOf } from '../../../../src/vocabulary/record-of.ts';
import type { ListedLog, ListField } from '../../api/logs.ts';
import { isRecord } from '../../messages/json-reading.ts';

export interface ColumnFacts {
  readonly label: string;
  /** What it is, where the label alone does not say so. */
  readonly about?: string;
  readonly fields: readonly ListField[];
  /** A CSS grid track. */
  readonly width: string;
  readonly isNumber?: true;
  /** The API's order by it. */
  readonly sort?: LogColumn;
  /** The field that its value is filtered by; absent: none is. */
  readonly filter?: LogColumn;
}

export const COLUMNS = {
  time: { label: 'Time', fields: ['requested_at'], width: '6.5rem', sort: 'requested_at' },
  status: {
    label: 'Status',
    fields: ['status', 'outcome', 'closed_before', 'error_type'],
    width: '9.5rem',
    filter: 'outcome',
  },
  model: { label: 'Model', fields: ['model', 'model_requested'], width: 'minmax(8rem, 1.2fr)', filter: 'model' },
  provider: { label: 'Provider', fields: ['provider'], width: '5.5rem', filter: 'provider' },
  span: { label: 'Span', fields: ['span_name', 'span_path'], width: 'minmax(7rem, 1.2fr)', filter: 'span_name' },
  snippet: {
    label: 'Prompt → answer',
    about: 'The last message of the user, and the beginning of the answer',
    fields: ['snippet'],
    width: 'minmax(16rem, 3fr)',
  },
  run: { label: 'Run', fields: ['trace_id'], width: '8.5rem', filter: 'trace_id' },
  cost: {
    label: 'Cost',
    fields: ['total_cost', 'cost_status', 'known_cost'],
    width: '6rem',
    isNumber: true,
    sort: 'total_cost',
  },
  tok_in: {
    label: 'In',
    fields: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
    width: '3.5rem',
    isNumber: true,
  },
  tok_out: { label: 'Out', fields: ['output_tokens'], width: '3.5rem', isNumber: true, sort: 'output_tokens' },
  cache: {
    label: 'Cache read / written',
    fields: ['cache_read_input_tokens', 'cache_creation_input_tokens'],
    width: '9rem',
    isNumber: true,
  },
  reasoning: { label: 'Reasoning', fields: ['reasoning_tokens'], width: '6rem', isNumber: true },
  duration: { label: 'Duration', fields: ['duration_ms'], width: '5rem', isNumber: true, sort: 'duration_ms' },
  ttft: { label: 'First token', fields: ['first_token_ms'], width: '5rem', isNumber: true },
  tps: {
    label: 'Tokens/s',
    fields: ['duration_ms', 'first_token_ms', 'output_tokens'],
    width: '5.5rem',
    isNumber: true,
  },
  key: { label: 'Key', fields: ['key_id'], width: '6.5rem', filter: 'key_id' },
  endpoint: { label: 'Endpoint', fields: ['endpoint'], width: '9rem', filter: 'endpoint' },
  path: { label: 'Path', fields: ['method', 'path'], width: 'minmax(12rem, 1fr)', filter: 'path' },
  client: { label: 'Client', fields: ['client'], width: '9rem', filter: 'client' },
  address: { label: 'Address', fields: ['client_address'], width: '9rem', filter: 'client_address' },
  http_status: { label: 'HTTP', fields: ['status'], width: '4rem', isNumber: true, filter: 'status' },
  error: { label: 'Error', fields: ['error_type', 'error_message'], width: 'minmax(10rem, 1fr)', filter: 'error_type' },
  bytes: { label: 'Size', fields: ['request_bytes', 'response_bytes'], width: '9rem', isNumber: true },
  overhead: { label: 'Overhead', fields: ['overhead_us'], width: '6rem', isNumber: true },
  retry: { label: 'Retry', fields: ['attempt'], width: '4.5rem', isNumber: true, filter: 'attempt' },
  connection: { label: 'Connection', fields: ['connection_id'], width: '20rem', filter: 'connection_id' },
  id: { label: 'Request id', fields: ['id'], width: '20rem' },
} as const satisfies Readonly<Record<string, ColumnFacts>>;

export type FixedColumn = keyof typeof COLUMNS;

const USUAL: readonly string[] = [
  'time',
  'status',
  'model',
  'snippet',
  'cost',
  'tok_in',
  'tok_out',
  'duration',
  'span',
  'run',
  'provider',
  'ttft',
  'key',
];

/** How many promoted metadata keys the usual columns have at the end. */
const USUAL_METADATA = 2;
const MOST_COLUMNS = 40;
const METADATA = 'metadata.';

export function isFixedColumn(id: string): id is FixedColumn {
  return Object.hasOwn(COLUMNS, id);
}

const FIXED_COLUMNS: readonly FixedColumn[] = namesOf(COLUMNS);
const SHOWN: ReadonlySet<string> = new Set(FIXED_COLUMNS.flatMap((id) => COLUMNS[id].fields));

/** A column of the log that none of the fixed ones shows, and that fits into a cell. It is shown as it is. */
export function isPlainColumn(id: string): id is LogColumn {
  return isLogColumn(id) && !SHOWN.has(id) && kindOf(id) !== 'json';
}

/** All but those of metadata. */
export function listColumns(): readonly string[] {
  return [...FIXED_COLUMNS, ...LOG_COLUMN_NAMES.filter(isPlainColumn)];
}

function plainFacts(column: LogColumn): ColumnFacts {
  const kind = kindOf(column);
  const words = column.replaceAll('_', ' ');
  return {
    label: words.slice(0, 1).toUpperCase() + words.slice(1),
    about: LOG_COLUMNS[column].about,
    fields: [column],
    width: '9rem',
    ...(kind === 'integer' || kind === 'money' ? { isNumber: true } : {}),
    ...(kind === 'time' || kind === 'text_list' ? {} : { filter: column }),
  };
}

/** The key of a metadata column; null for the fixed ones. */
export function readMetadataKey(id: string): string | null {
  return id.startsWith(METADATA) && id.length > METADATA.length ? id.slice(METADATA.length) : null;
}

export function readColumnFacts(id: string): ColumnFacts {
  if (isFixedColumn(id)) return COLUMNS[id];
  if (isPlainColumn(id)) return plainFacts(id);
  return { label: readMetadataKey(id) ?? id, fields: ['raw_metadata'], width: '9rem' };
}

/** Commas and percent signs of a metadata key are escaped in the address. */
export function formatColumns(columns: readonly string[]): string {
  return columns.map((id) => id.replace(/[%,]/g, encodeURIComponent)).join(',');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What is no column is left out; none left, the usual ones. */
export function readColumns(text: string | undefined, promotedKeys: readonly string[]): readonly string[] {
  const usual = [...USUAL, ...promotedKeys.slice(0, USUAL_METADATA).map((key) => METADATA + key)];
  if (text === undefined) return usual;
  const chosen = text.split(',').map(decode);
  const known = chosen.filter(
    (id, index) =>
      (isFixedColumn(id) || isPlainColumn(id) || readMetadataKey(id) !== null) && chosen.indexOf(id) === index,
  );
  return known.length === 0 ? usual : known.slice(0, MOST_COLUMNS);
}

/** What a click does to the columns that are chosen by then; null for the usual ones. */
export type ColumnsChange = ((before: readonly string[]) => readonly string[]) | null;

export function addColumn(columns: readonly string[], id: string): readonly string[] {
  return columns.includes(id) ? columns : [...columns, id];
}

export function moveColumn(columns: readonly string[], id: string, by: 1 | -1): readonly string[] {
  const from = columns.indexOf(id);
  if (from === -1) return columns;
  const others = columns.filter((one) => one !== id);
  const to = Math.max(0, Math.min(others.length, from + by));
  return [...others.slice(0, to), id, ...others.slice(to)];
}

/** As the address has them. The last column stays. */
export function changeColumns(
  text: string | undefined,
  promotedKeys: readonly string[],
  change: ColumnsChange,
): string | undefined {
  if (change === null) return undefined;
  const next = change(readColumns(text, promotedKeys));
  return next.length === 0 ? text : formatColumns(next);
}

/** The columns of the record that the page needs: those it shows, and those that cards, links and menus read. */
export function listFields(columns: readonly string[]): readonly ListField[] {
  const always: readonly LogColumn[] = [
    'id',
    'requested_at',
    'trace_id',
    'span_name',
    'model',
    'model_requested',
    'outcome',
    'status',
    'total_cost',
    'duration_ms',
  ];
  return [...new Set<ListField>([...always, ...columns.flatMap((id) => readColumnFacts(id).fields)])].sort();
}

/** A metadata value, whatever the case of its key: several spellings are joined, as the filters do. */
export function readMetadataValue(metadata: unknown, key: string): string | null {
  if (!isRecord(metadata)) return null;
  const values = Object.entries(metadata)
    .filter(([name]) => name.toLowerCase() === key.toLowerCase())
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return values.length === 0 ? null : values.join(', ');
}

export interface CellValue {
  readonly field: string;
  /** Null: not set. */
  readonly value: string | null;
}

/** What the cell's value is for a filter; null when nothing can be filtered by it. */
export function readCellValue(row: ListedLog, id: string): CellValue | null {
  const key = readMetadataKey(id);
  if (key !== null) return { field: id, value: readMetadataValue(row.raw_metadata, key) };
  const { filter } = readColumnFacts(id);
  if (filter === undefined) return null;
  // A call whose answer names no model shows the model that was asked for.
  const field = filter === 'model' && (row.model ?? null) === null ? 'model_requested' : filter;
  const value = row[field];
  return { field, value: value === null || value === undefined ? null : String(value) };
}
