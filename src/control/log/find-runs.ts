/** The runs that a search finds, by the index of the search over their calls. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { openSearch } from '../search/find-windows.ts';
import { CALLS } from '../search/search-sources.ts';
import { runSql } from './run-sql.ts';
import { withinWindows } from './search-windows.ts';
import { askWithin } from './walk-window.ts';

/** With more, reading run after run finds enough of them soon. */
const MAX_RUNS = 2_000;
/** For reading the index of the search, and then for asking the calls that it offers. */
const INDEX_LIMIT_MS = 450;
const LIMIT_MS = 150;

/**
 * Trace ids of the runs with a call, also an open one, whose trace id or span name has the text; null when there are too
 * many to tell. The client is in a transaction of one snapshot.
 */
export async function findRuns(
  client: pg.ClientBase,
  accountId: number,
  search: string,
): Promise<readonly string[] | null> {
  const open = await openSearch(client, search, [CALLS]);
  const everywhere = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  const matches = sql<SqlBool>`account_id = ${accountId} and trace_id is not null and (
    strpos(search_fold(trace_id), search_fold(${search})) > 0 or strpos(search_fold(span_name), search_fold(${search})) > 0)`;
  const { windows, since } = await open.fewWindowsIn(everywhere, INDEX_LIMIT_MS);
  if (since !== null) return null;
  const found = await askWithin(client, LIMIT_MS, () =>
    runSql(
      client,
      sql`select distinct trace_id from (
          ${withinWindows(windows, (within) => sql`select trace_id from llm_requests where ${within} and ${matches}`)}
          union all
          select trace_id from llm_open_calls where ${matches}
        ) calls limit ${MAX_RUNS + 1}`,
    ),
  );
  if (found === 'too_long' || found.length > MAX_RUNS) return null;
  return found.map((row) => String(row['trace_id']));
}
