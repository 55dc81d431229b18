/**
 * A page of the log: any filters, keyset paging on (requested_at, id), with a measure before them on request. A call
 * without the measure counts as -1. New calls never move others; only a changed price moves a call sorted by cost.
 * The work for a page is bounded: it may end early, and says how far the log was searched.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { openSearch, type Search, type SearchWindow } from '../search/find-windows.ts';
import { SEARCH_SOURCES } from '../search/search-sources.ts';
import type { LogColumn, LogRow } from '../store/log-columns.ts';
import { inSnapshot } from '../store/pool.ts';
import { isIndexed } from './log-filter-sql.ts';
import { formatDatabaseMoney, formatLogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';
import { readMatches, type SearchMatch } from './read-matches.ts';
import { readSnippets, type Snippet } from './read-snippets.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import { searchInWindows, spanOf, withinWindows } from './search-windows.ts';
import {
  askWithin,
  limitsLeft,
  SEARCH_LIMITS,
  type Slice,
  WALK_LIMITS,
  type WalkedWindow,
  type WalkLimits,
  walkRows,
  walkWindow,
  windowBehind,
} from './walk-window.ts';

/** A minus stands for descending. */
export const LOG_SORTS = [
  '-requested_at',
  'requested_at',
  '-total_cost',
  'total_cost',
  '-duration_ms',
  'duration_ms',
  '-output_tokens',
  'output_tokens',
] as const;
export type LogSort = (typeof LOG_SORTS)[number];

export interface LogQuery extends LogScope {
  readonly sort: LogSort;
  readonly columns: readonly LogColumn[];
  /** Whether each call gets its first lines; they stand in a table of their own and are read for the page alone. */
  readonly hasSnippets?: boolean;
  /** Whether each call of a search says where it was found. */
  readonly hasMatches?: boolean;
}

/** Both only on request; `snippet` is null where the text of the call is not kept. */
export type ListedRecord = Partial<LogRow> & {
  readonly snippet?: Snippet | null;
  readonly matches?: readonly SearchMatch[];
};

export interface LogPosition {
  readonly requestedAt: Date;
  readonly id: string;
}

export interface SortedLogPosition extends LogPosition {
  /** The sorted measure as a decimal; null when calls are sorted by time alone. */
  readonly value: string | null;
}

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

function measureOf(sort: LogSort): RawBuilder<unknown> | null {
  const column = sort.replace('-', '');
  return column === 'requested_at' ? null : sql`coalesce(${sql.ref(column)}, -1)`;
}

/** Only a value of the column's own type is compared by an index. */
function measureType(sort: LogSort): RawBuilder<unknown> {
  return sort.endsWith('total_cost') ? sql`numeric` : sql`int8`;
}

export function logOrder(sort: LogSort): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  const measure = measureOf(sort);
  const first = measure === null ? sql`` : sql`${measure} ${direction}, `;
  return sql`${first}requested_at ${direction}, id ${direction}`;
}

function afterCondition(sort: LogSort, { requestedAt, id, value }: SortedLogPosition): Condition {
  const isDescending = sort.startsWith('-');
  const follows = isDescending ? sql`<` : sql`>`;
  const measure = measureOf(sort);
  if (measure !== null)
    return sql<SqlBool>`(${measure}, requested_at, id) ${follows} (${value}::numeric::${measureType(sort)}, ${requestedAt}::timestamptz, ${id}::uuid)`;
  // The second condition repeats the bound on time, so that the planner leaves out whole days.
  const bound = isDescending ? sql`<=` : sql`>=`;
  return sql<SqlBool>`(requested_at, id) ${follows} (${requestedAt}::timestamptz, ${id}::uuid) and requested_at ${bound} ${requestedAt}`;
}

/** Precedes every id in an ascending order and follows none in a descending one. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Without a condition that may pass over calls, an index has the page as it stands. */
function passesOverCalls(query: LogQuery): boolean {
  return query.filters.length > 0 || query.search !== null;
}

interface OpenQuery {
  readonly client: pg.ClientBase;
  readonly query: LogQuery;
  readonly promoted: PromotedKeys;
  readonly search: Search | null;
  readonly after: SortedLogPosition | null;
  readonly columns: readonly RawBuilder<unknown>[];
  /** One row more than the page has. */
  readonly wanted: number;
}

interface Found {
  readonly rows: readonly SqlRow[];
  /** Where the search stopped for lack of time. */
  readonly stopped: SortedLogPosition | null;
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
      search: query.search === null ? null : await openSearch(client, query.search, SEARCH_SOURCES, limits.fewWindows),
      after,
      columns,
      wanted: limit + 1,
    };
    const read = passesOverCalls(query) ? (measure === null ? walkTime : readByMeasure) : readPlainly;
    const found = await read(open, limits);
    return withTexts(client, query, found.rows, pageOf(found, query, limit));
  });
}

function conditionsOf({ query, promoted, after }: OpenQuery, { from, to }: Slice): readonly Condition[] {
  return [
    ...logConditions({ ...query, from, to }, promoted),
    ...(after === null ? [] : [afterCondition(query.sort, after)]),
  ];
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

function hasIndex({ query, promoted, search }: OpenQuery): boolean {
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
async function askIndex<T>(
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

async function walkTime(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const { client, query, search, after, columns, wanted } = open;
  const isNewestFirst = query.sort.startsWith('-');
  const rows: SqlRow[] = [];
  const narrowed = search === null ? open : { ...open, query: { ...query, search: null } };
  const readRows = async (slice: Slice, known?: readonly SearchWindow[]): Promise<boolean> => {
    const left = wanted - rows.length;
    const conditions = conditionsOf(narrowed, slice);
    const page = (where: readonly Condition[]): RawBuilder<unknown> =>
      sql`select ${sql.join(columns)} from llm_requests where ${allOf(where)} order by ${logOrder(query.sort)} limit ${left}`;
    if (search === null) rows.push(...(await runSql(client, page(conditions))));
    else {
      const windows = known ?? (await search.windowsIn(spanOf(slice)));
      const inOrder = isNewestFirst ? windows.toReversed() : windows;
      const ask = searchInWindows(search.text, inOrder, (within) => page([...conditions, within]), left);
      if (windows.length > 0) rows.push(...(await runSql(client, ask)));
    }
    return rows.length >= wanted;
  };
  const walk = async (over: WalkedWindow, within: WalkLimits): Promise<Found> => {
    const end = await walkWindow(client, over, within, (slice) => readRows(slice));
    const stopped = end.type === 'time_spent' ? { requestedAt: end.searchedTo, id: NO_ID, value: null } : null;
    return { rows, stopped };
  };
  const startedMs = limits.monotonicMs();
  const window = windowAfter(query, after);
  if (!hasIndex(open)) return walk(window, limits);
  // What is frequent is found among the first calls, before an index is read for it.
  const { stopped } = await walk(window, { ...limits, budgetMs: 0 });
  if (stopped === null) return { rows, stopped };
  // An index that has the matches is quickest in one go; where they are many, so is the order of time.
  const rest = windowBehind(window, stopped.requestedAt);
  const asked = await askIndex(open, rest, limits, isNewestFirst, (windows) => readRows(rest, windows));
  if (asked !== null && (asked.answer || asked.since === null)) return { rows, stopped: null };
  const unasked = asked === null || asked.since === null ? rest : windowBehind(rest, asked.since);
  return walk(unasked, limitsLeft(limits, startedMs));
}

/** What is few enough is sorted; else the calls are read in their order, so many that the time is not exceeded. */
async function readByMeasure(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const startedMs = limits.monotonicMs();
  const few = hasIndex(open) ? await readFew(open, limits) : null;
  return few === null ? readInOrder(open, limitsLeft(limits, startedMs)) : { rows: few, stopped: null };
}

/** With more calls than this that match, the order has the first ones soon. */
const MAX_SORTED = 5_000;

/** Null when there are too many. */
async function readFew(open: OpenQuery, limits: WalkLimits): Promise<readonly SqlRow[] | null> {
  const { client, query, promoted, after, columns, wanted } = open;
  const order = logOrder(query.sort);
  const conditions = logConditions(query, promoted);
  const few = await askIndex(open, query, limits, false, async (windows) => {
    const matches = (where: readonly Condition[]): RawBuilder<unknown> =>
      sql`select id, requested_at, ${sql.ref(query.sort.replace('-', ''))} from llm_requests
        where ${allOf(where)} limit ${MAX_SORTED + 1}`;
    const found =
      windows === undefined
        ? matches(conditions)
        : sql`${withinWindows(windows, (within) => matches([...conditions, within]))} limit ${MAX_SORTED + 1}`;
    const [row] = await runSql(
      client,
      sql`with few as materialized (${found}), page as materialized (
          select id, requested_at from few where ${after === null ? sql<SqlBool>`true` : afterCondition(query.sort, after)}
          order by ${order} limit ${wanted}
        ) select (select count(*) from few) as total, array(select id from page) as ids,
          array(select requested_at from page) as times`,
    );
    if (Number(row?.['total']) > MAX_SORTED) return null;
    return runSql(
      client,
      sql`select ${sql.join(columns)} from llm_requests
        where id = any(${row?.['ids']}::uuid[]) and requested_at = any(${row?.['times']}::timestamptz[]) order by ${order}`,
    );
  });
  return few?.answer ?? null;
}

async function readInOrder(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const { client, query, promoted, columns, wanted } = open;
  const order = logOrder(query.sort);
  const conditions = allOf(logConditions(query, promoted));
  const rows: SqlRow[] = [];
  let position = open.after;
  const end = await walkRows(client, limits, async (count) => {
    const part = allOf(
      conditionsOf({ ...open, query: { ...query, filters: [], search: null }, after: position }, query),
    );
    const found = await runSql(
      client,
      sql`select ${sql.join(columns)} from (
          select * from llm_requests where ${part} order by ${order} limit ${count}
        ) llm_requests where ${conditions} order by ${order} limit ${wanted - rows.length}`,
    );
    const [last] = await runSql(
      client,
      sql`select id, requested_at, ${measureOf(query.sort)}::text as sort_value from llm_requests
        where ${part} order by ${order} limit 1 offset ${count - 1}`,
    );
    rows.push(...found);
    position = positionOf(last);
    if (rows.length >= wanted) return 'enough';
    return position === null ? 'whole' : 'more';
  });
  return { rows, stopped: end === 'time_spent' ? position : null };
}

async function withTexts(
  client: pg.ClientBase,
  { accountId, search, hasSnippets = false, hasMatches = false }: LogQuery,
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
      : await readMatches(client, accountId, search, shown);
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

/** What is left of the window behind the position. */
function windowAfter({ accountId, sort, from, to }: LogQuery, after: SortedLogPosition | null): WalkedWindow {
  const isNewestFirst = sort.startsWith('-');
  // Behind a call there may be others of its millisecond; where a search stopped there are none.
  const upTo = after === null ? to : new Date(after.requestedAt.getTime() + (after.id === NO_ID ? 0 : 1));
  return {
    over: 'calls',
    accountId,
    direction: isNewestFirst ? 'newest_first' : 'oldest_first',
    from: after === null || isNewestFirst ? from : after.requestedAt,
    to: isNewestFirst ? upTo : to,
  };
}

function pageOf({ rows, stopped }: Found, query: LogQuery, limit: number): SearchedLogPage {
  const page = rows.slice(0, limit);
  return {
    records: page.map((row) => formatLogRecord(row, query.columns)),
    next: stopped ?? positionOf(rows.length > limit ? page.at(-1) : undefined),
    searchedTo: stopped === null ? null : formatPlace(stopped, query.sort),
  };
}

function formatPlace({ requestedAt, value }: SortedLogPosition, sort: LogSort): string {
  if (value === null) return requestedAt.toISOString();
  return sort.endsWith('total_cost') && !value.startsWith('-') ? formatDatabaseMoney(value) : value;
}

function positionOf(last: SqlRow | undefined): SortedLogPosition | null {
  if (!(last?.['requested_at'] instanceof Date)) return null;
  const value = last['sort_value'];
  return {
    requestedAt: last['requested_at'],
    id: String(last['id']),
    value: value === undefined ? null : String(value),
  };
}
