/** What the log takes on disk, by table: rows and indexes. */
import type pg from 'pg';

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** With what is stored beside the rows (TOAST). */
  readonly tableBytes: number;
  readonly indexBytes: number;
}

export async function readTableSizes(pool: pg.Pool): Promise<readonly TableSize[]> {
  const { rows } = await pool.query<TableSize>(`
    with leaves as (
      select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as "table", c.oid, c.reltuples
      from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    )
    select "table", sum(greatest(reltuples, 0))::int8 as rows, sum(pg_table_size(oid))::int8 as "tableBytes",
      sum(pg_indexes_size(oid))::int8 as "indexBytes"
    from leaves group by 1 having sum(pg_total_relation_size(oid)) > 1000000 order by 3 + 4 desc, 1`);
  return rows;
}
