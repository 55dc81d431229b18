/** Which calls a question is about, so that lists, sums, facets, the tail and exports agree. */
import { type SqlBool, sql } from 'kysely';
import { isUuid } from '../../vocabulary/uuid.ts';
import { CALLS, SEARCH_SOURCES, SEARCHED_COLUMNS, type SearchSource } from '../search/search-sources.ts';
import type { LogFilter } from './log-filter.ts';
import { filterCondition } from './log-filter-sql.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import type { Condition } from './run-sql.ts';

export interface LogScope {
  readonly accountId: number;
  readonly filters: readonly LogFilter[];
  readonly search: string | null;
  /** False: the search leaves texts of prompts and answers out, as if there were none. */
  readonly searchesTexts?: boolean;
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
  readonly excludeRuns: boolean;
}

/** SQL, whether calls and their texts need be looked at. */
export interface SearchedParts {
  readonly inCalls: Condition;
  readonly inTexts: Condition;
}

export function searchSourcesOf({ searchesTexts = true }: LogScope): readonly SearchSource[] {
  return searchesTexts ? SEARCH_SOURCES : [CALLS];
}

const EVERYWHERE: SearchedParts = { inCalls: sql<SqlBool>`true`, inTexts: sql<SqlBool>`true` };

/**
 * Matches a part of a name, an error, a metadata value, a prompt or an answer, in any case; or a whole id. It reads all
 * of that: `openSearch` tells where in the log that is worth it.
 */
export function searchCondition(search: string, { inCalls, inTexts }: SearchedParts = EVERYWHERE): Condition {
  const needle = sql`search_fold(${search})`;
  // A value may have in it what JSON escapes, and the text of the JSON has more in it than values.
  const inJson = sql`search_fold(${JSON.stringify(search).slice(1, -1)})`;
  const isId = isUuid(search) ? sql`or id = ${search}::uuid` : sql``;
  // The text looked for has no such separator, so a match stays within one column.
  return sql<SqlBool>`(${inCalls} and (
    strpos(search_fold(concat_ws(${separatorFor(search)}, ${sql.join(SEARCHED_COLUMNS.map((name) => sql.ref(name)))})), ${needle}) > 0
    or search_fold(provider_request_id) = ${needle} ${isId}
    or strpos(search_fold(raw_metadata::text), ${inJson}) > 0 and exists (
      select from jsonb_each_text(raw_metadata) m where strpos(search_fold(m.value), ${needle}) > 0))
    or ${inTexts} and exists (
      select from llm_texts t where t.id = llm_requests.id and t.requested_at = llm_requests.requested_at
        and ${textCondition(search)}))`;
}

/** Of `llm_texts`, named `t`. */
export function textCondition(search: string): Condition {
  const needle = sql`search_fold(${search})`;
  return sql<SqlBool>`(strpos(search_fold(t.prompt), ${needle}) > 0 or strpos(search_fold(t.answer), ${needle}) > 0)`;
}

/** A character for private use that the text lacks: there are far more of them than it has characters. */
function separatorFor(text: string): string {
  let code = 0xe000;
  while (text.includes(String.fromCodePoint(code))) code += 1;
  return String.fromCodePoint(code);
}

/** `llm_requests` must be the query's innermost table. */
export function logConditions(
  scope: LogScope,
  promoted: PromotedKeys,
  toCondition: typeof filterCondition = filterCondition,
): readonly Condition[] {
  const conditions = [
    sql<SqlBool>`account_id = ${scope.accountId}`,
    ...scope.filters.map((filter) => toCondition(filter, promoted)),
  ];
  if (scope.from !== null) conditions.push(sql<SqlBool>`requested_at >= ${scope.from}`);
  if (scope.to !== null) conditions.push(sql<SqlBool>`requested_at < ${scope.to}`);
  if (scope.excludeRuns) conditions.push(sql<SqlBool>`trace_id is null`);
  if (scope.search !== null) {
    const inTexts = scope.searchesTexts === false ? sql<SqlBool>`false` : EVERYWHERE.inTexts;
    conditions.push(searchCondition(scope.search, { ...EVERYWHERE, inTexts }));
  }
  return conditions;
}
