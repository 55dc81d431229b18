/**
 * Which calls a question is about: written once, so that lists, sums, facets, the tail and exports of the same filters
 * are about the same calls.
 */
import { type SqlBool, sql } from 'kysely';
import { isUuid, type LogFilter } from './log-filter.ts';
import { filterCondition } from './log-filter-sql.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import type { Condition } from './run-sql.ts';

export interface LogScope {
  readonly accountId: number;
  readonly filters: readonly LogFilter[];
  /** Free text; null for none. */
  readonly search: string | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
  readonly excludeRuns: boolean;
}

/** Contained in one of the names, the texts or the metadata values, in any case; or it is the id. */
export function searchCondition(search: string): Condition {
  // "q": literally, "i": in any case. A third of the time of looking at each value in a subquery.
  const someValue = `$.* ? (@ like_regex ${JSON.stringify(search)} flag "qi")`;
  const isId = isUuid(search) ? sql`or id = ${search}::uuid` : sql``;
  // The separator keeps a match within one column; no name holds it.
  return sql<SqlBool>`(
    strpos(lower(concat_ws(chr(1), span_name, model, model_requested, error_message, path, trace_id, client, error_type,
      provider_request_id)), lower(${search})) > 0
    or jsonb_path_exists(raw_metadata, ${someValue}::jsonpath) ${isId})`;
}

/** For a query in which `llm_requests` is the innermost table. */
export function logConditions(scope: LogScope, promoted: PromotedKeys): readonly Condition[] {
  const conditions = [
    sql<SqlBool>`account_id = ${scope.accountId}`,
    ...scope.filters.map((filter) => filterCondition(filter, promoted)),
  ];
  if (scope.from !== null) conditions.push(sql<SqlBool>`requested_at >= ${scope.from}`);
  if (scope.to !== null) conditions.push(sql<SqlBool>`requested_at < ${scope.to}`);
  if (scope.excludeRuns) conditions.push(sql<SqlBool>`trace_id is null`);
  if (scope.search !== null) conditions.push(searchCondition(scope.search));
  return conditions;
}
