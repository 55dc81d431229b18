/**
 * A page of the log: any filters, keyset paging on (requested_at, id), with a measure before them on request. New calls
 * never move others; only a changed price moves a call sorted by cost. The work for a page is bounded: it may end early,
 * and says how far the log was searched.
 */
import { sql } from 'kysely';
import type pg from 'pg';
import { openSearch } from '../search/find-windows.ts';
import type { LogColumn, LogRow } from '../store/log-columns.ts';
import { inSnapshot } from '../store/pool.ts';
import { formatPlace, type LogPosition, logOrder, measureOf, positionOf, type SortedLogPosition } from './log-order.ts';
import { formatLogRecord } from './log-record.ts';
import { searchSourcesOf } from './log-scope.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { readByMeasure } from './read-by-measure.ts';
import { readByTime } from './read-by-time.ts';
import { conditionsOf, type Found, type LogQuery, type OpenQuery } from './read-calls.ts';
import { readMatches, type SearchMatch } from './read-matches.ts';
import { readSnippets, type Snippet } from './read-snippets.ts';
import { allOf, runSql, type SqlRow } from './run-sql.ts';
import { SEARCH_LIMITS, WALK_LIMITS, type WalkLimits } from './walk-window.ts';

/** Both only on request; `snippet` is null where the text of the call is not kept. */
export type ListedRecord = Partial<LogRow> & {
  readonly snippet?: Snippet | null;
  readonly matches?: readonly SearchMatch[];
};

export interface LogPage<R, P extends LogPosition = LogPosition> {
  readonly records: readonly R[];
  /** Null on the last page. */
  readonly next: P | null;
}

export interface SearchedLogPage extends LogPage<ListedRecord, SortedLogPosition> {
  /**
   * How far the log was searched when the page ended early for lack of time: a time, or the value of the measure. `next`
   * goes on from there.
   */
  readonly searchedTo: string | null;
}

/** Without a condition that may pass over calls, an index has the page as it stands. */
function passesOverCalls(query: LogQuery): boolean {
  return query.filters.length > 0 || query.search !== null;
}

export async function listLogs(
  pool: pg.Pool,
  query: LogQuery,
  after: SortedLogPosition | null,
  limit: number,
  limits: WalkLimits = query.search === null ? WALK_LIMITS : SEARCH_LIMITS,
): Promise<SearchedLogPage> {
  const measure = measureOf(query.sort);
  const columns = [...new Set<LogColumn>(['id', 'requested_at', ...query.columns])].map((name) => sql.ref(name));
  if (measure !== null) columns.push(sql`${measure}::text as sort_value`);

  return inSnapshot(pool, async (client) => {
    const open: OpenQuery = {
      client,
      query,
      promoted: await readPromotedKeysFor(client, query.accountId, query.filters),
      search:
        query.search === null
          ? null
          : await openSearch(client, query.search, searchSourcesOf(query), limits.fewWindows),
      after,
      columns,
      wanted: limit + 1,
    };
    const read = passesOverCalls(query) ? (measure === null ? readByTime : readByMeasure) : readPlainly;
    const found = await read(open, limits);
    return withTexts(client, query, found.rows, pageOf(found, query, limit));
  });
}

async function readPlainly(open: OpenQuery): Promise<Found> {
  const { client, query, columns, wanted } = open;
  const rows = await runSql(
    client,
    sql`select ${sql.join(columns)} from llm_requests where ${allOf(conditionsOf(open, query))}
      order by ${logOrder(query.sort)} limit ${wanted}`,
  );
  return { rows, stopped: null };
}

async function withTexts(
  client: pg.ClientBase,
  { accountId, search, searchesTexts = true, hasSnippets = false, hasMatches = false }: LogQuery,
  rows: readonly SqlRow[],
  page: SearchedLogPage,
): Promise<SearchedLogPage> {
  if (!hasSnippets && !hasMatches) return page;
  const shown = rows.slice(0, page.records.length);
  const snippets = hasSnippets ? await readSnippets(client, accountId, shown) : null;
  const matches = !hasMatches
    ? null
    : search === null
      ? new Map()
      : await readMatches(client, accountId, search, searchesTexts, shown);
  const records = page.records.map((record, index) => {
    const id = String(shown[index]?.['id']);
    return {
      ...record,
      ...(snippets === null ? {} : { snippet: snippets.get(id) ?? null }),
      ...(matches === null ? {} : { matches: matches.get(id) ?? [] }),
    };
  });
  return { ...page, records };
}

function pageOf({ rows, stopped }: Found, query: LogQuery, limit: number): SearchedLogPage {
  const page = rows.slice(0, limit);
  return {
    records: page.map((row) => formatLogRecord(row, query.columns)),
    next: stopped ?? positionOf(rows.length > limit ? page.at(-1) : undefined),
    searchedTo: stopped === null ? null : formatPlace(stopped, query.sort),
  };
}
