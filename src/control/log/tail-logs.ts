/**
 * New rows in the order of their inserting transactions, below the oldest that still runs, so none is missed. A row that was
 * moved to another run since keeps its place, so none comes twice.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { LOG_COLUMN_NAMES, type LogRow } from '../store/log-columns.ts';
import type { LogFilter } from './log-filter.ts';
import { formatLogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { readSnippets, type Snippet } from './read-snippets.ts';
import { allOf, type Condition, runSql } from './run-sql.ts';

export interface TailPosition {
  /** `xid8` in decimal. */
  readonly xid: string;
  readonly id: string;
}

export interface TailedRecord {
  readonly position: TailPosition;
  readonly record: LogRow & { readonly snippet?: Snippet | null };
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const POSITION = /^(\d{1,20})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export function formatTailPosition(position: TailPosition): string {
  return `${position.xid}_${position.id}`;
}

/** Null when the text is not a position. */
export function parseTailPosition(text: string): TailPosition | null {
  const [, xid, id] = POSITION.exec(text) ?? [];
  return xid === undefined || id === undefined || BigInt(xid) >= 1n << 63n ? null : { xid, id };
}

/** Only rows inserted from now on follow it. */
export async function readTailEnd(pool: pg.Pool): Promise<TailPosition> {
  const { rows } = await pool.query<{ xid: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as xid');
  return { xid: rows[0]?.xid ?? '0', id: LOWEST_ID };
}

export async function tailLogs(
  pool: pg.Pool,
  accountId: number,
  filters: readonly LogFilter[],
  after: TailPosition,
  limit: number,
  search: Pick<LogScope, 'search' | 'searchesTexts'> = { search: null },
  hasSnippets = false,
): Promise<readonly TailedRecord[]> {
  const promoted = await readPromotedKeysFor(pool, accountId, filters);
  const conditions = logConditions(
    { accountId, filters, ...search, from: null, to: null, excludeRuns: false },
    promoted,
  );
  const columns = sql.join(LOG_COLUMN_NAMES.map((name) => sql.ref(name)));
  // Each with its own index.
  const read = (xid: RawBuilder<unknown>, isWanted: Condition) => sql`
    (select ${columns}, ${xid} as told_xid from llm_requests
     where ${allOf([isWanted, sql<SqlBool>`(${xid}, id) > (${after.xid}::xid8, ${after.id}::uuid)`, sql<SqlBool>`${xid} < pg_snapshot_xmin(pg_current_snapshot())`, ...conditions])}
     order by ${xid}, id limit ${limit})`;
  // A moved row has a later `ingest_xid` than it had, by which days without the index of moved rows find it.
  const isMoved = sql<SqlBool>`stored_xid is not null and (ingest_xid, id) > (${after.xid}::xid8, ${after.id}::uuid)`;
  const rows = await runSql(
    pool,
    sql`select *, told_xid::text as xid from (
        ${read(sql`ingest_xid`, sql<SqlBool>`stored_xid is null`)} union all ${read(sql`stored_xid`, isMoved)}
      ) found order by told_xid, id limit ${limit}`,
  );
  const snippets = hasSnippets ? await readSnippets(pool, accountId, rows) : null;
  return rows.map((row) => ({
    position: { xid: String(row['xid']), id: String(row['id']) },
    record: {
      ...formatLogRecord(row, LOG_COLUMN_NAMES),
      ...(snippets === null ? {} : { snippet: snippets.get(String(row['id'])) ?? null }),
    },
  }));
}
