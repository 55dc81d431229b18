/** What the database says of itself: version, size, how many calls it holds. Cheap: the log itself is not counted. */
import type pg from 'pg';

export interface DatabaseFacts {
  readonly version: string;
  readonly sizeBytes: number;
  /** Of the account, by the costs by hour. */
  readonly calls: number;
  /** Of the account. */
  readonly oldestRequestedAt: Date | null;
}

interface FactsRow {
  readonly version: string;
  readonly size_bytes: number;
  readonly calls: number;
  readonly oldest_requested_at: Date | null;
}

const FACTS = `
  select current_setting('server_version') as version,
    pg_database_size(current_database()) as size_bytes,
    (select coalesce(sum(calls), 0)::int8 from llm_cost_hourly where account_id = $1 and facet = '') as calls,
    (select min(requested_at) from llm_requests where account_id = $1) as oldest_requested_at`;

/** The driver's name for the limit of one query; its types know only the one of a whole connection. */
type LimitedQuery = pg.QueryConfig & { readonly query_timeout: number };

/** Rejects when the database does not answer. A connection that hangs for `limitMs` is closed. */
export async function checkDatabase(pool: pg.Pool, limitMs: number): Promise<void> {
  const query: LimitedQuery = { text: 'select 1', query_timeout: limitMs };
  await pool.query(query);
}

/** A connection that hangs for `limitMs` is closed. */
export async function readDatabaseFacts(pool: pg.Pool, accountId: number, limitMs: number): Promise<DatabaseFacts> {
  const query: LimitedQuery = { text: FACTS, values: [accountId], query_timeout: limitMs };
  const { rows } = await pool.query<FactsRow>(query);
  const [row] = rows;
  if (row === undefined) throw new Error('the database said nothing of itself');
  return {
    version: row.version,
    sizeBytes: row.size_bytes,
    calls: row.calls,
    oldestRequestedAt: row.oldest_requested_at,
  };
}
