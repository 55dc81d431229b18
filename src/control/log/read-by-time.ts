/** A page of the log in the order of time, when filters or a search may pass over calls. */
import { type RawBuilder, sql } from 'kysely';
import type { Search, SearchWindow } from '../search/find-windows.ts';
import { logOrder, NO_ID, type SortedLogPosition } from './log-order.ts';
import {
  askIndex,
  conditionsOf,
  type Found,
  findWindows,
  hasIndex,
  type LogQuery,
  type OpenQuery,
} from './read-calls.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import { searchInWindows, spanOf } from './search-windows.ts';
import {
  askWithin,
  growthAfter,
  limitsLeft,
  SHRINKING,
  type Slice,
  type WalkedWindow,
  type WalkLimits,
  walkWindow,
  windowBehind,
} from './walk-window.ts';

/** Windows of a search that are asked together at first. Each has some thirty calls; a question takes as long to plan as a hundred. */
const FIRST_WINDOWS = 256;
/** What of the time of an answer is for what the index offers at least, however long it took to read. */
const LEAST_SHARE = 0.4;

export async function readByTime(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const { client, query, search, after, columns, wanted } = open;
  const isNewestFirst = query.sort.startsWith('-');
  const rows: SqlRow[] = [];
  const narrowed = search === null ? open : { ...open, query: { ...query, search: null } };
  const inOrder = (windows: readonly SearchWindow[]) => (isNewestFirst ? windows.toReversed() : windows);
  const readRows = async (slice: Slice, known?: readonly SearchWindow[]): Promise<boolean> => {
    const left = wanted - rows.length;
    const conditions = conditionsOf(narrowed, slice);
    const page = (where: readonly Condition[]): RawBuilder<unknown> =>
      sql`select ${sql.join(columns)} from llm_requests where ${allOf(where)} order by ${logOrder(query.sort)} limit ${left}`;
    if (search === null) rows.push(...(await runSql(client, page(conditions))));
    else {
      const windows = known ?? inOrder(await search.windowsIn(spanOf(slice)));
      const ask = searchInWindows(search.text, windows, (within) => page([...conditions, within]), left);
      if (windows.length > 0) rows.push(...(await runSql(client, ask)));
    }
    return rows.length >= wanted;
  };
  const walk = async (over: WalkedWindow, within: WalkLimits): Promise<Found> => {
    const end = await walkWindow(client, over, within, (slice) => readRows(slice));
    const stopped = end.type === 'time_spent' ? { requestedAt: end.searchedTo, id: NO_ID, value: null } : null;
    return { rows, stopped };
  };
  // Both return what is still to be walked: null for nothing. An index is quickest in one go; where it has much, so is the walk.
  const readIndex = async (rest: WalkedWindow): Promise<WalkedWindow | null> =>
    (await askIndex(client, limits, () => readRows(rest))) === null ? rest : null;
  const readWindows = async (opened: Search, rest: WalkedWindow): Promise<WalkedWindow | null> => {
    const { windows: found, since } = await findWindows(opened, rest, limits);
    const windows = inOrder(found);
    // The latest ones are of no use to who begins with the oldest.
    if (since !== null && !isNewestFirst) return rest;
    const untilMs =
      limits.monotonicMs() + Math.max(limitsLeft(limits, startedMs).budgetMs, LEAST_SHARE * limits.budgetMs);
    let asked = 0;
    for (
      let count = Math.min(FIRST_WINDOWS, limits.fewWindows ?? FIRST_WINDOWS);
      asked < windows.length && limits.monotonicMs() < untilMs;
    ) {
      const partStartedMs = limits.monotonicMs();
      const part = windows.slice(asked, asked + count);
      const answer = await askWithin(client, (untilMs - partStartedMs) / 2, () => readRows(rest, part));
      if (answer === true) return null;
      // A single one may be all of the log, where nothing is indexed.
      if (answer === 'too_long' && part.length === 1) break;
      if (answer === false) asked += part.length;
      count = Math.ceil(part.length * (answer === false ? growthAfter(limits, partStartedMs) : SHRINKING));
    }
    const next = windows[asked];
    if (next !== undefined) return windowBehind(rest, new Date(isNewestFirst ? next.to : next.from));
    return since === null ? null : windowBehind(rest, new Date(since));
  };
  const startedMs = limits.monotonicMs();
  const window = windowAfter(query, after);
  if (!hasIndex(open)) return walk(window, limits);
  // What is frequent is found among the first calls, before an index is read for it.
  const { stopped } = await walk(window, { ...limits, budgetMs: 0 });
  if (stopped === null) return { rows, stopped };
  const rest = windowBehind(window, stopped.requestedAt);
  const unasked = search === null ? await readIndex(rest) : await readWindows(search, rest);
  return unasked === null ? { rows, stopped: null } : walk(unasked, limitsLeft(limits, startedMs));
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
