/** Which runs a question is about, as SQL for the list, the sums, the facets and the export. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { columnCondition, filterCondition } from './log-filter-sql.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import type { RunFilter, RunFilterColumn, RunFilters } from './run-filter.ts';
import { RUN_FIELDS } from './run-row.ts';
import { allOf, type Condition } from './run-sql.ts';
import type { Slice } from './walk-window.ts';

export interface RunScope extends RunFilters {
  readonly accountId: number;
  /** Searches the trace id and the span names of calls; null for no search. */
  readonly search: string | null;
  /** What `findRuns` found; without it the calls of each run are read. */
  readonly foundRuns?: readonly string[] | null;
  /** All runs with a call that passes the filters of calls; without it calls are read. */
  readonly traces?: readonly string[] | null;
  /** Runs of very many calls, which are looked up by their names: see `findLargeRuns`. */
  readonly largeRuns?: readonly string[];
  /** Calls of this time are filtered together, those outside of it run by run; without it all are, run by run. */
  readonly callsWithin?: Slice;
  /** Inclusive, of the latest activity. */
  readonly from: Date | null;
  /** Exclusive, of the latest activity. */
  readonly to: Date | null;
}

/** Whole milliseconds; `r` is `llm_runs`. */
export const RUN_DURATION_MS = sql`(extract(epoch from r.ended_at - r.started_at) * 1000)::int8`;

const FROM_OPEN_CALLS = sql`from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id`;
const OPEN_CALLS = sql`(select count(*) ${FROM_OPEN_CALLS})`;
const IS_RUNNING = sql<SqlBool>`exists (select ${FROM_OPEN_CALLS})`;

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
  // Few runs are running. As a semi-join they are found from the open calls, and not among all runs.
  if (field === 'state' && op === 'eq' && values[0] === 'running') return IS_RUNNING;
  return columnCondition(columnOf(field), RUN_FIELDS[field], op, values);
}

/**
 * Looked up run by run: with `offset 0` the planner does not read the calls of the whole log instead. The bound on time
 * leaves out whole days.
 */
function someCall(condition: Condition): Condition {
  return sql<SqlBool>`exists (select 1 from llm_requests q where q.account_id = r.account_id and q.trace_id = r.trace_id
    and q.requested_at between r.started_at and r.ended_at and ${condition} offset 0)`;
}

/** Most runs of a slice of time have all of their calls in it, and reading these at once takes a tenth of the time. */
function someCallNear(accountId: number, { from, to }: Slice, condition: Condition): Condition {
  const within = [sql<SqlBool>`account_id = ${accountId} and trace_id is not null`, condition];
  const beyond: Condition[] = [];
  if (from !== null) {
    within.push(sql<SqlBool>`requested_at >= ${from}`);
    beyond.push(
      sql<SqlBool>`(r.started_at < ${from} and ${someCall(sql<SqlBool>`q.requested_at < ${from} and ${condition}`)})`,
    );
  }
  if (to !== null) {
    within.push(sql<SqlBool>`requested_at < ${to}`);
    beyond.push(
      sql<SqlBool>`(r.ended_at >= ${to} and ${someCall(sql<SqlBool>`q.requested_at >= ${to} and ${condition}`)})`,
    );
  }
  const near = sql<SqlBool>`r.trace_id in (select trace_id from llm_requests where ${allOf(within)})`;
  return sql<SqlBool>`(${sql.join([near, ...beyond], sql` or `)})`;
}

/** Where the names stand in the statement, the planner sees how many calls they have, and takes the index of what is rarer. */
function someCallOfLarge(
  accountId: number,
  large: readonly string[],
  condition: Condition,
  other: Condition,
): Condition {
  return sql<SqlBool>`(r.trace_id <> all(${large}::text[]) and ${other} or r.trace_id in (
    select trace_id from llm_requests where account_id = ${accountId} and trace_id = any(${large}::text[]) and ${condition}))`;
}

/** About `r`. Without `foundRuns` its calls are read. */
export function searchCondition(search: string, foundRuns: readonly string[] | null): Condition {
  const contains = (column: RawBuilder<unknown>): Condition =>
    sql<SqlBool>`strpos(search_fold(${column}), search_fold(${search})) > 0`;
  if (foundRuns !== null)
    // Of a run without calls only its own name is left.
    return sql<SqlBool>`(r.trace_id = any(${foundRuns}::text[]) or r.is_history and ${contains(sql`r.trace_id`)})`;
  return sql<SqlBool>`(${contains(sql`r.trace_id`)} or ${someCall(contains(sql`q.span_name`))}
    or exists (select ${FROM_OPEN_CALLS} and ${contains(sql`o.span_name`)}))`;
}

export function runConditions(scope: RunScope, promoted: PromotedKeys): readonly Condition[] {
  const conditions = [sql<SqlBool>`r.account_id = ${scope.accountId}`];
  if (scope.from !== null) conditions.push(sql<SqlBool>`r.ended_at >= ${scope.from}`);
  if (scope.to !== null) conditions.push(sql<SqlBool>`r.ended_at < ${scope.to}`);
  conditions.push(...scope.runFilters.map(runFilterCondition));
  const aboutCalls = scope.callFilters.map((filter) => filterCondition(filter, promoted));
  if (scope.traces != null) conditions.push(sql<SqlBool>`r.trace_id = any(${scope.traces}::text[])`);
  else if (aboutCalls.length > 0) {
    const { accountId, callsWithin, largeRuns = [] } = scope;
    const isWanted = allOf(aboutCalls);
    const some = callsWithin === undefined ? someCall(isWanted) : someCallNear(accountId, callsWithin, isWanted);
    conditions.push(largeRuns.length === 0 ? some : someCallOfLarge(accountId, largeRuns, isWanted, some));
  }
  if (scope.search !== null) conditions.push(searchCondition(scope.search, scope.foundRuns ?? null));
  return conditions;
}
