/** What the ways of reading a page of the log have in common: the open question, its conditions, and what an index has. */
import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import type { Search, SearchWindow } from '../search/find-windows.ts';
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

interface Asked<T> {
  readonly answer: T;
  /** All since this time was asked, of more than could be asked at once; null: all. */
  readonly since: Date | null;
}

/** What of the time of an answer may be spent on reading the index of the search. */
const INDEX_SHARE = 0.7;

/**
 * Asks once for all that the index has, in the windows of the search if there is one; null where that takes too long, or would
 * be a part and no part is taken. It has half of the time, however long the index of the search was read: what was read would be
 * lost.
 */
export async function askIndex<T>(
  { client, search }: OpenQuery,
  slice: Slice,
  { budgetMs }: WalkLimits,
  takesPart: boolean,
  ask: (windows?: readonly SearchWindow[]) => Promise<T>,
): Promise<Asked<T> | null> {
  const few = search === null ? null : await search.fewWindowsIn(spanOf(slice), INDEX_SHARE * budgetMs);
  const since = few?.since ?? null;
  if (since !== null && !takesPart) return null;
  const answer = await askWithin(client, budgetMs / 2, () => ask(few?.windows));
  if (answer === 'too_long') return null;
  return { answer, since: since === null ? null : new Date(since) };
}
