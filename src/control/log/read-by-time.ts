/** A page of the log in the order of time, when filters or a search may pass over calls. */
import { type RawBuilder, sql } from 'kysely';
import type { SearchWindow } from '../search/find-windows.ts';
import { logOrder, NO_ID, type SortedLogPosition } from './log-order.ts';
import { askIndex, conditionsOf, type Found, hasIndex, type LogQuery, type OpenQuery } from './read-calls.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import { searchInWindows, spanOf } from './search-windows.ts';
import { limitsLeft, type Slice, type WalkedWindow, type WalkLimits, walkWindow, windowBehind } from './walk-window.ts';

export async function readByTime(open: OpenQuery, limits: WalkLimits): Promise<Found> {
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
