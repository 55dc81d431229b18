/**
 * What the index `llm_requests_terms` answers of a filter: a condition that all calls pass which pass the filter, and few
 * others, so that the filter itself must be tested as well. The functions are in the migrations 0023 and 0033.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LogColumn } from '../store/log-columns.ts';
import type { FilterOp } from './log-filter.ts';

type Condition = RawBuilder<SqlBool>;

/** In the order of the function's arguments. */
const TERM_COLUMNS = [
  'key_id',
  'node',
  'client',
  'client_address',
  'provider',
  'provider_alias',
  'endpoint',
  'model',
  'model_requested',
  'billing_model',
  'service_tier',
  'speed',
  'region',
  'inference_geo',
  'span_path',
  'span_key',
  'span_name',
  'closed_before',
  'error_type',
  'outcome',
  'status',
  'cost_status',
  'usage_source',
  'provider_request_id',
] as const satisfies readonly LogColumn[];

/** In the order of `agent_terms`, which has an index of its own for calls that have one of them. */
const AGENT_TERM_COLUMNS = [
  'agent',
  'agent_session',
  'agent_path',
  'agent_turn',
  'trace_source',
] as const satisfies readonly LogColumn[];

/** Most calls have these, so that they are not in the index. */
const USUAL: Readonly<Partial<Record<LogColumn, string>>> = {
  outcome: 'ok',
  status: '200',
  cost_status: 'exact',
  usage_source: 'provider',
  trace_source: 'header',
};

const LOWEST_ERROR_STATUS = 400;

const CALL_TERMS = sql`call_terms(${sql.join(TERM_COLUMNS.map((column) => sql.ref(column)))})`;

const AGENT_TERMS = sql`agent_terms(${sql.join(AGENT_TERM_COLUMNS.map((column) => sql.ref(column)))})`;
/** The condition of the index `llm_requests_agents`, as its migration has it. */
const HAS_AGENT_TERMS = sql`(agent_session is not null or trace_source <> 'header')`;

/** With more, it would take longer to test a call than to read it. */
const MAX_ALTERNATIVES = 20;

function someTerm(terms: readonly string[], isOfAgent = false): Condition {
  const hashes = sql`array[${sql.join(terms.map((term) => sql`hashtext(${term}::text)`))}]`;
  return isOfAgent
    ? sql<SqlBool>`(${HAS_AGENT_TERMS} and ${AGENT_TERMS} && ${hashes})`
    : sql<SqlBool>`${CALL_TERMS} && ${hashes}`;
}

function isOneOf(connectionIds: readonly string[]): Condition {
  return sql<SqlBool>`connection_id in (${sql.join(connectionIds.map((id) => sql`${id}::uuid`))})`;
}

/** Null where the index does not help. */
export function columnTerms(column: LogColumn, op: FilterOp, values: readonly string[]): Condition | null {
  // It has an index of its own, of the calls that have one.
  if (column === 'connection_id') return op === 'eq' || op === 'in' ? isOneOf(values) : null;
  const usual = USUAL[column];
  const isOfAgent = AGENT_TERM_COLUMNS.some((name) => name === column);
  if (!isOfAgent && !TERM_COLUMNS.some((name) => name === column)) return null;
  switch (op) {
    case 'eq':
    case 'in': {
      // Whole numbers have one spelling in the index.
      const found = column === 'status' || column === 'key_id' ? values.map((value) => String(Number(value))) : values;
      return usual !== undefined && found.includes(usual)
        ? null
        : someTerm(
            found.map((value) => `${column}=${value}`),
            isOfAgent,
          );
    }
    case 'ne':
    case 'nin':
      return column === 'outcome' && values.includes('ok') ? someTerm(['outcome<>ok']) : null;
    case 'gt':
    case 'gte':
      return column === 'status' && Number(values[0]) >= LOWEST_ERROR_STATUS ? someTerm(['status>=400']) : null;
    case 'has':
      return column === 'error_type' ? someTerm(['error_type']) : null;
    default:
      return null;
  }
}

/** A call may also be found by the model that it asked for when another served it: the filter itself leaves those out. */
export function anyModelTerms(op: FilterOp, values: readonly string[]): Condition | null {
  if (op !== 'eq' && op !== 'in') return null;
  return someTerm(values.flatMap((value) => [`model=${value}`, `model_requested=${value}`]));
}

/**
 * The index has one value of a key: of several spellings in a call the last, which is the end of the joined value, behind
 * some `, `.
 */
function listEndings(value: string): readonly string[] {
  const parts = value.split(', ');
  return parts.map((_, index) => parts.slice(index).join(', '));
}

export function metadataTerms(key: string, op: FilterOp, values: readonly string[]): Condition | null {
  if (op !== 'eq' && op !== 'in' && op !== 'has') return null;
  const endings = [...new Set(values.flatMap(listEndings))];
  if (op === 'has' || endings.length > MAX_ALTERNATIVES)
    return sql<SqlBool>`call_metadata(raw_metadata) ? lower(${key}::text collate "C")`;
  const conditions = endings.map(
    (ending) =>
      sql<SqlBool>`call_metadata(raw_metadata) @> lower(${JSON.stringify({ [key]: ending })}::text collate "C")::jsonb`,
  );
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`;
}
