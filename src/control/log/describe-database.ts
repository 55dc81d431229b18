/** The database's version, size and number of calls, without counting the log. */
import type pg from 'pg';
import { ALL_CALLS } from './call-facets.ts';

export interface DatabaseDescription {
  readonly version: string;
  readonly sizeBytes: number;
  /** The account's calls, as the roll-ups count them. */
  readonly calls: number;
  readonly oldestRequestedAt: Date | null;
  /** Days whose calls or texts are not in the index of the search yet: a search reads them. */
  readonly searchDaysWaiting: number;
}

interface FactsRow {
  readonly version: string;
  readonly size_bytes: number;
  readonly calls: number;
  readonly oldest_requested_at: Date | null;
  readonly search_days_waiting: number;
}

/** Of an hour the roll-up by one dimension has two rows, that of costs hundreds. */
const FILLED_FROM = `coalesce((select filled_from from llm_facet_fill where account_id = $1), '-infinity')`;

const FACTS = `
  select current_setting('server_version') as version,
    pg_database_size(current_database()) as size_bytes,
    (select coalesce(sum(calls), 0)::int8 from (
      select calls from llm_facet_hours where account_id = $1 and facet = '${ALL_CALLS}' and hour >= ${FILLED_FROM}
      union all
      select calls from llm_cost_hours where account_id = $1 and facet = '' and hour < ${FILLED_FROM}
    ) counted) as calls,
    (select min(requested_at) from llm_requests where account_id = $1) as oldest_requested_at,
    (select count(distinct day)::int4 from llm_search_days) as search_days_waiting`;

/** The driver's types lack its limit for one query. */
type LimitedQuery = pg.QueryConfig & { readonly query_timeout: number };

/** Rejects when the database does not answer; closes a connection that hangs for `limitMs`. */
export async function checkDatabase(pool: pg.Pool, limitMs: number): Promise<void> {
  const query: LimitedQuery = { text: 'select 1', query_timeout: limitMs };
  await pool.query(query);
}

/** Closes a connection that hangs for `limitMs`. */
export async function describeDatabase(
  pool: pg.Pool,
  accountId: number,
  limitMs: number,
): Promise<DatabaseDescription> {
  const query: LimitedQuery = { text: FACTS, values: [accountId], query_timeout: limitMs };
  const { rows } = await pool.query<FactsRow>(query);
  const [row] = rows;
  if (row === undefined) throw new Error('the database said nothing of itself');
  return {
    version: row.version,
    sizeBytes: row.size_bytes,
    calls: row.calls,
    oldestRequestedAt: row.oldest_requested_at,
    searchDaysWaiting: row.search_days_waiting,
  };
}
