/** What the database says of itself: version, size, how many calls it holds. Cheap: no table is counted. */
import type pg from 'pg';

export interface DatabaseFacts {
  readonly version: string;
  readonly sizeBytes: number;
  /** By the statistics of the partitions; some minutes old. */
  readonly rowsEstimate: number;
  /** Of the account. */
  readonly oldestRequestedAt: Date | null;
}

interface FactsRow {
  readonly version: string;
  readonly size_bytes: number;
  readonly rows_estimate: number;
  readonly oldest_requested_at: Date | null;
}

const FACTS = `
  select current_setting('server_version') as version,
    pg_database_size(current_database()) as size_bytes,
    (select coalesce(sum(greatest(c.reltuples, 0)), 0)::int8
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'llm_requests'::regclass) as rows_estimate,
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
    rowsEstimate: row.rows_estimate,
    oldestRequestedAt: row.oldest_requested_at,
  };
}
