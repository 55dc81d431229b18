/** What the ways of reading a page of the log have in common: the open question, its conditions, and what an index has. */
import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import type { FewWindows, Search } from '../search/find-windows.ts';
import type { LogColumn } from '../store/log-columns.ts';
import { isIndexed } from './log-filter-sql.ts';
import { afterCondition, type LogSort, type SortedLogPosition } from './log-order.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import type { Condition, SqlRow } from './run-sql.ts';
import { spanOf } from './search-windows.ts';
import { askWithin, type Slice, type WalkLimits } from './walk-window.ts';

export interface LogQuery extends LogScope {
  readonly sort: LogSort;
  readonly columns: readonly LogColumn[];
  /** Whether each call gets its first lines; they stand in a table of their own and are read for the page alone. */
  readonly hasSnippets?: boolean;
  /** Whether each call of a search says where it was found. */
  readonly hasMatches?: boolean;
}

export interface OpenQuery {
  readonly client: pg.ClientBase;
  readonly query: LogQuery;
  readonly promoted: PromotedKeys;
  readonly search: Search | null;
  readonly after: SortedLogPosition | null;
  readonly columns: readonly RawBuilder<unknown>[];
  /** One row more than the page has. */
  readonly wanted: number;
}

export interface Found {
  readonly rows: readonly SqlRow[];
  /** Where the search stopped for lack of time. */
  readonly stopped: SortedLogPosition | null;
}

export function conditionsOf({ query, promoted, after }: OpenQuery, { from, to }: Slice): readonly Condition[] {
  return [
    ...logConditions({ ...query, from, to }, promoted),
    ...(after === null ? [] : [afterCondition(query.sort, after)]),
  ];
}

export function hasIndex({ query, promoted, search }: OpenQuery): boolean {
  return search !== null || query.filters.some((filter) => isIndexed(filter, promoted));
}

/** What of the time of an answer may be spent on reading the index of the search. */
const INDEX_SHARE = 0.6;

/** The windows that the index of the search offers; `since`: they are all from this time on; null: all. */
export function findWindows(search: Search, slice: Slice, { budgetMs }: WalkLimits): Promise<FewWindows> {
  return search.fewWindowsIn(spanOf(slice), INDEX_SHARE * budgetMs);
}

/** Asks an index for all that it has; null where that takes too long: more than half of the time. */
export async function askIndex<T>(
  client: pg.ClientBase,
  { budgetMs }: WalkLimits,
  ask: () => Promise<T>,
): Promise<T | null> {
  const answer = await askWithin(client, budgetMs / 2, ask);
  return answer === 'too_long' ? null : answer;
}
