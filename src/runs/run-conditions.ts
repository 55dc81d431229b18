/** Which runs a question is about, as SQL: written once for the list, the sums, the facets and the export of runs. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { metadataFacet } from './cost-hourly.ts';
import type { LogFilter } from './log-filter.ts';
import { columnCondition, filterCondition } from './log-filter-sql.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { RUN_FILTER_COLUMNS, type RunFilter, type RunFilterColumn, type RunFilters } from './run-filter.ts';
import { allOf, type Condition } from './run-sql.ts';

export interface RunScope extends RunFilters {
  readonly accountId: number;
  /** Free text in the trace id or in a call's span name; null for none. */
  readonly search: string | null;
  /** Runs whose latest activity is at or after this. */
  readonly from: Date | null;
  /** Runs whose latest activity is before this. */
  readonly to: Date | null;
}

/** Whole milliseconds; `r` is `llm_runs`. */
export const RUN_DURATION_MS = sql`(extract(epoch from r.ended_at - r.started_at) * 1000)::int8`;

const OPEN_CALLS = sql`(select count(*) from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id)`;

function columnOf(column: RunFilterColumn): RawBuilder<unknown> {
  switch (column) {
    case 'state':
      return sql`(case when ${OPEN_CALLS} > 0 then 'running' when r.errors > 0 then 'errors'
        when r.calls > 0 and r.client_closed_calls = r.calls then 'client_closed' else 'ok' end)`;
    case 'open_calls':
      return OPEN_CALLS;
    case 'duration_ms':
      return RUN_DURATION_MS;
    default:
      return sql`r.${sql.ref(column)}`;
  }
}

export function runFilterCondition({ field, op, values }: RunFilter): Condition {
  return columnCondition(columnOf(field), RUN_FILTER_COLUMNS[field], op, values);
}

/** A call of the run: within its time, which leaves out whole days of the log. */
function someCall(condition: Condition): Condition {
  return sql<SqlBool>`exists (select 1 from llm_requests q where q.account_id = r.account_id and q.trace_id = r.trace_id
    and q.requested_at between r.started_at and r.ended_at and ${condition})`;
}

interface KnownFacet {
  readonly facet: string;
  readonly maxCharacters: number | null;
}

const FACETS_BY_COLUMN: Readonly<Record<string, KnownFacet>> = {
  model: { facet: 'model', maxCharacters: MAX_VALUE_CHARACTERS },
  provider: { facet: 'provider', maxCharacters: null },
  key_id: { facet: 'key', maxCharacters: null },
};

/** Runs have facets of promoted keys only. */
function metadataFacetOf(key: string, promoted: PromotedKeys): KnownFacet | undefined {
  const displayKey = promoted.get(key.toLowerCase());
  return displayKey === undefined
    ? undefined
    : { facet: metadataFacet(displayKey), maxCharacters: MAX_VALUE_CHARACTERS };
}

/** Says less than the filter, but an index answers it: runs that cannot match are not looked into. */
function facetCondition({ field, op, values }: LogFilter, promoted: PromotedKeys): readonly Condition[] {
  if (op !== 'eq' && op !== 'in') return [];
  const known = field.type === 'column' ? FACETS_BY_COLUMN[field.column] : metadataFacetOf(field.key, promoted);
  if (known === undefined) return [];
  const { facet, maxCharacters } = known;
  // Whole numbers in one spelling; and characters as PostgreSQL counts them.
  const wanted = values.map((value) =>
    facet === 'key'
      ? String(Number(value))
      : maxCharacters === null
        ? value
        : [...value].slice(0, maxCharacters).join(''),
  );
  return [
    sql<SqlBool>`exists (select 1 from llm_run_facets f where f.account_id = r.account_id and f.trace_id = r.trace_id
      and f.facet = ${facet} and f.value = any(${wanted}::text[]))`,
  ];
}

function searchCondition(search: string): Condition {
  const needle = sql`lower(${search})`;
  return sql<SqlBool>`(strpos(lower(r.trace_id), ${needle}) > 0
    or ${someCall(sql<SqlBool>`strpos(lower(q.span_name), ${needle}) > 0`)}
    or exists (select 1 from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id
      and strpos(lower(o.span_name), ${needle}) > 0))`;
}

/** For a query in which `r` is `llm_runs`. */
export function runConditions(scope: RunScope, promoted: PromotedKeys): readonly Condition[] {
  const conditions = [sql<SqlBool>`r.account_id = ${scope.accountId}`];
  if (scope.from !== null) conditions.push(sql<SqlBool>`r.ended_at >= ${scope.from}`);
  if (scope.to !== null) conditions.push(sql<SqlBool>`r.ended_at < ${scope.to}`);
  conditions.push(...scope.runFilters.map(runFilterCondition));
  conditions.push(...scope.callFilters.flatMap((filter) => facetCondition(filter, promoted)));
  const aboutCalls = scope.callFilters.map((filter) => filterCondition(filter, promoted));
  if (aboutCalls.length > 0) conditions.push(someCall(allOf(aboutCalls)));
  if (scope.search !== null) conditions.push(searchCondition(scope.search));
  return conditions;
}
