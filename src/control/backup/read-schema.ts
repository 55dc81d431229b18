/** The database's schema: applied migrations and the columns of each table. */
import type pg from 'pg';

export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
}

/** In the order of their names, which is that of their application. */
export async function readMigrations(client: pg.ClientBase): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    'select name, checksum from schema_migrations union all select name, checksum from schema_additions order by name',
  );
  return rows;
}

/** By table, in column order, without partitions and generated columns. */
export async function listColumns(client: pg.ClientBase): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: readonly string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
     group by c.relname`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
