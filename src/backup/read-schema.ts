/** What the database's schema is: the migrations that were applied, and the columns of each table. Reads only. */
import type pg from 'pg';

export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** In the order in which they were applied, which is that of their names. */
export async function readMigrations(client: pg.ClientBase): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    'select name, checksum from schema_migrations union all select name, checksum from schema_additions order by name',
  );
  return rows;
}

/** By table, in the order of the columns; partitions and generated columns are left out. */
export async function listColumns(client: pg.ClientBase): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: readonly string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
     group by c.relname`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
