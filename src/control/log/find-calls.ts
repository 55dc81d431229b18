/** The newest calls that a search finds, within the time of a page. */
import { sql } from 'kysely';
import type pg from 'pg';
import { openSearch } from '../search/find-windows.ts';
import { type LogScope, logConditions, searchSourcesOf } from './log-scope.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import { allOf, runSql } from './run-sql.ts';
import { searchInWindows, spanOf } from './search-windows.ts';
import { WALK_LIMITS, type WalkLimits, walkWindow } from './walk-window.ts';

export interface FoundCalls {
  readonly ids: readonly string[];
  /** The oldest and the newest of them; null for none. */
  readonly first: Date | null;
  readonly last: Date | null;
  /** There may be more, for which there was no time or no room. */
  readonly hasMore: boolean;
}

/** The client is in a transaction of one snapshot. */
export async function findCalls(
  client: pg.ClientBase,
  scope: LogScope & { readonly search: string },
  promoted: PromotedKeys,
  limit: number,
  limits: WalkLimits = WALK_LIMITS,
): Promise<FoundCalls> {
  const { accountId, from, to } = scope;
  const search = await openSearch(client, scope.search, searchSourcesOf(scope));
  const calls: { readonly id: string; readonly at: Date }[] = [];
  const end = await walkWindow(
    client,
    { over: 'calls', accountId, direction: 'newest_first', from, to },
    limits,
    async (slice) => {
      const windows = await search.windowsIn(spanOf(slice));
      if (windows.length === 0) return false;
      const conditions = logConditions({ ...scope, ...slice, search: null }, promoted);
      const wanted = limit + 1 - calls.length;
      const page = searchInWindows(
        search.text,
        windows.toReversed(),
        (within) =>
          sql`select id, requested_at from llm_requests where ${allOf([...conditions, within])}
          order by requested_at desc, id desc limit ${wanted}`,
        wanted,
      );
      for (const { id, requested_at: at } of await runSql(client, page))
        if (at instanceof Date) calls.push({ id: String(id), at });
      return calls.length > limit;
    },
  );
  const kept = calls.slice(0, limit);
  return {
    ids: kept.map(({ id }) => id),
    first: kept.at(-1)?.at ?? null,
    last: kept[0]?.at ?? null,
    hasMore: end.type !== 'whole',
  };
}
