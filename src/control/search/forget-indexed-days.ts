/** Takes days out of the search index, which are indexed again from what is stored then. Searches read them meanwhile. */
import type pg from 'pg';
import { dayOf } from '../store/partitions.ts';
import { HIGHEST_ID, SEARCH_LOCK } from './index-next.ts';
import { SEARCH_SOURCES } from './search-sources.ts';

/** Runs in the transaction that changes the calls of these times. The lock waits for a step that has read them before. */
export async function forgetIndexedDays(client: pg.ClientBase, times: readonly Date[]): Promise<void> {
  const days = [...new Set(times.map((time) => dayOf(time.getTime())))];
  await client.query('select pg_advisory_xact_lock($1)', [SEARCH_LOCK]);
  for (const { name, segments } of SEARCH_SOURCES) {
    await client.query(`delete from ${segments} where (first_at at time zone 'UTC')::date = any($1::date[])`, [days]);
    await client.query(
      `insert into llm_search_days (source, day, before) select $1, day, $3 from unnest($2::date[]) day
       on conflict (source, day) do update set before = excluded.before`,
      [name, days, HIGHEST_ID],
    );
  }
}
