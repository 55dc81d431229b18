/**
 * Applies the SQL files of `migrations/` that the database has not seen, in the order of their names, each in its own
 * transaction. Several processes may do this at once. A file that changed after it was applied is an error.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { OperatorError } from '../errors.ts';

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any number, the same in every version: who holds it migrates. */
const MIGRATION_LOCK = 7_461_001;
/** Filling a new table from a large log takes its time; the pool's own limit is meant for questions. */
const MIGRATION_LIMIT_MS = 12 * 3_600_000;

/** Returns the names of the files applied now. `migrationsDir` is the project's `migrations/`. */
export async function migrate(pool: pg.Pool, migrationsDir: string): Promise<readonly string[]> {
  const files = await readMigrations(migrationsDir);
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('set statement_timeout = 0');
    const waiting = {
      text: 'select pg_advisory_lock($1)',
      values: [MIGRATION_LOCK],
      query_timeout: MIGRATION_LIMIT_MS,
    };
    await client.query(waiting);
    return await applyMissing(client, files);
  } catch (error) {
    failure = error instanceof Error ? error : new Error('the migration failed', { cause: error });
    throw failure;
  } finally {
    // The connection is closed: with it go the lock and the changed timeout.
    client.release(failure ?? true);
  }
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

async function readMigrations(dir: string): Promise<readonly Migration[]> {
  const names = (await readdir(dir)).filter((name) => MIGRATION_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(dir, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function applyMissing(client: pg.PoolClient, files: readonly Migration[]): Promise<readonly string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
  await client.query("comment on table schema_migrations is 'The SQL files of migrations/ that were applied.'");
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migrations',
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  const known = new Set(files.map((file) => file.name));
  for (const name of applied.keys()) {
    if (!known.has(name)) throw new OperatorError(`the database was made by a newer version (it has ${name})`);
  }
  const done: string[] = [];
  for (const { name, sql, checksum } of files) {
    const before = applied.get(name);
    if (before === checksum) continue;
    if (before !== undefined) throw new OperatorError(`the migration ${name} was changed after it was applied`);
    await client.query('begin');
    const statements = { text: sql, query_timeout: MIGRATION_LIMIT_MS };
    await client.query(statements);
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum]);
    await client.query('commit');
    done.push(name);
  }
  return done;
}
