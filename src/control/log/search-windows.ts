/** Questions about the windows of time in which a search may find something. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { SearchWindow } from '../search/find-windows.ts';
import { type TimeSpan, timeText } from '../search/time-span.ts';
import { searchCondition, textCondition } from './log-scope.ts';
import type { Condition } from './run-sql.ts';
import type { Slice } from './walk-window.ts';

export function spanOf({ from, to }: Slice): TimeSpan {
  return {
    from: from?.getTime() ?? Number.NEGATIVE_INFINITY,
    to: to?.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

/** Of the window `w`. */
const IN_WINDOW = sql<SqlBool>`requested_at >= w.start and requested_at < w.stop`;

/** Asks `ask` in each of the windows, in no order. The `offset 0` keeps the look-up by time: another index would be read whole for each. */
export function withinWindows(
  windows: readonly TimeSpan[],
  ask: (within: Condition) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const starts = windows.map(({ from }) => timeText(from));
  const ends = windows.map(({ to }) => timeText(to));
  return sql`select found.* from unnest(${starts}::timestamptz[], ${ends}::timestamptz[]) w (start, stop)
    cross join lateral (${ask(IN_WINDOW)} offset 0) found`;
}

/**
 * Asks `ask` in one window after the other, in their order, until there are enough rows; null for all. A function's rows come in order
 * and the join runs through them one by one, so the rows are in the order of `ask` as well.
 *
 * Where only texts are offered these are read, and then the calls of those that match: between calls with bodies there may be
 * many without.
 */
export function searchInWindows(
  search: string,
  windows: readonly SearchWindow[],
  ask: (within: Condition) => RawBuilder<unknown>,
  limit: number | null,
): RawBuilder<unknown> {
  const starts = windows.map(({ from }) => timeText(from));
  const ends = windows.map(({ to }) => timeText(to));
  const firstIds = windows.map(({ from }) => firstIdOf(from));
  const endIds = windows.map(({ to }) => firstIdOf(to));
  const inCalls = windows.map((window) => window.inCalls);
  const inTexts = windows.map((window) => window.inTexts);
  const matches = searchCondition(search, { inCalls: sql<SqlBool>`true`, inTexts: sql<SqlBool>`w.in_texts` });
  const hasText = sql<SqlBool>`id = any(array(select t.id from llm_texts t where t.requested_at >= w.start and t.requested_at < w.stop
    and t.id >= w.first_id and t.id < w.end_id and ${textCondition(search)}))`;
  return sql`select found.*
    from unnest(${starts}::timestamptz[], ${ends}::timestamptz[], ${firstIds}::uuid[], ${endIds}::uuid[], ${inCalls}::bool[],
      ${inTexts}::bool[]) w (start, stop, first_id, end_id, in_calls, in_texts)
    cross join lateral ((${ask(sql<SqlBool>`w.in_calls and ${IN_WINDOW} and ${matches}`)})
      union all (${ask(sql<SqlBool>`not w.in_calls and ${IN_WINDOW} and ${hasText}`)}) offset 0) found${limit === null ? sql`` : sql` limit ${limit}`}`;
}

const TIME_DIGITS = 12;
const LAST_MS = 2 ** 48 - 1;

/** Before every id of that millisecond and after all of those before: ids begin with their time. Its ends may be infinite. */
function firstIdOf(ms: number): string {
  const time = Math.min(Math.max(ms, 0), LAST_MS).toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
