/** Questions about the windows of time in which a search may find something. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { type Search, type SearchWindow, type TimeSpan, timeText } from '../search/find-windows.ts';
import { searchCondition } from './log-scope.ts';
import type { Condition } from './run-sql.ts';
import { askWithin, type Slice } from './walk-window.ts';

export function spanOf({ from, to }: Slice): TimeSpan {
  return {
    from: from?.getTime() ?? Number.NEGATIVE_INFINITY,
    to: to?.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

/** Asks `ask` once for all windows; null when they are too many, or when it takes longer than `limitMs`. */
export async function askFewWindows<T>(
  client: pg.ClientBase,
  search: Search,
  span: TimeSpan,
  limitMs: number,
  ask: (windows: readonly SearchWindow[]) => Promise<T>,
): Promise<T | null> {
  const windows = await search.fewWindowsIn(span);
  if (windows === null) return null;
  const answer = await askWithin(client, limitMs, () => ask(windows));
  return answer === 'too_long' ? null : answer;
}

/** Asks `ask` in each of the windows, in no order. */
export function withinWindows(
  windows: readonly TimeSpan[],
  ask: (within: Condition) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const starts = windows.map(({ from }) => timeText(from));
  const ends = windows.map(({ to }) => timeText(to));
  const within = sql<SqlBool>`requested_at >= w.start and requested_at < w.stop`;
  return sql`select found.* from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) w (start, stop)
    cross join lateral (${ask(within)}) found`;
}

/**
 * Asks `ask` in one window after the other, in their order, until there are enough rows; null for all. A function's rows come in order
 * and the join runs through them one by one, so the rows are in the order of `ask` as well.
 */
export function searchInWindows(
  search: string,
  windows: readonly SearchWindow[],
  ask: (within: Condition) => RawBuilder<unknown>,
  limit: number | null,
): RawBuilder<unknown> {
  const starts = windows.map(({ from }) => timeText(from));
  const ends = windows.map(({ to }) => timeText(to));
  const inCalls = windows.map((window) => window.inCalls);
  const inTexts = windows.map((window) => window.inTexts);
  const matches = searchCondition(search, { inCalls: sql<SqlBool>`w.in_calls`, inTexts: sql<SqlBool>`w.in_texts` });
  const within = sql<SqlBool>`requested_at >= w.start and requested_at < w.stop and ${matches}`;
  return sql`select found.*
    from unnest(${starts}::timestamptz[], ${ends}::timestamptz[], ${inCalls}::bool[], ${inTexts}::bool[])
      w (start, stop, in_calls, in_texts)
    cross join lateral (${ask(within)}) found${limit === null ? sql`` : sql` limit ${limit}`}`;
}
