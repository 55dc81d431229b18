/**
 * Applies the SQL files of `migrations/` that the database has not seen, in the order of their names, each in its own
 * transaction. Several processes may do this at once. A file that changed after it was applied is an error.
 *
 * A file whose first line is `-- compatible with: 0.2.0` only adds: that release and later ones may go on with a database
 * that has it, which is what a rolling upgrade and the way back need. Any other unknown file stops an older release.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { OperatorError } from '../errors.ts';
import { readVersion } from '../version.ts';

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Any number, the same in every version: who holds it migrates. */
const MIGRATION_LOCK = 7_461_001;
/** Filling a new table from a large log takes its time; the pool's own limit is meant for questions. */
const MIGRATION_LIMIT_MS = 12 * 3_600_000;

const COMPATIBLE_WITH = /^-- compatible with: (\d+\.\d+\.\d+)\s*$/m;

/**
 * Returns the names of the files applied now. `migrationsDir` is the project's `migrations/`, `version` the release that
 * runs. Throws an OperatorError when the database is one of a newer release that this one cannot work with.
 */
export async function migrate(
  pool: pg.Pool,
  migrationsDir: string,
  version = readVersion(),
): Promise<readonly string[]> {
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
    return await applyMissing(client, files, version);
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
  /** The oldest release that can work with a database that has it; null: only releases that have the file themselves. */
  readonly compatibleWith: string | null;
}

async function readMigrations(dir: string): Promise<readonly Migration[]> {
  const names = (await readdir(dir)).filter((name) => MIGRATION_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(dir, name), 'utf8');
      const [firstLine = ''] = sql.split('\n', 1);
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name, sql, checksum, compatibleWith: COMPATIBLE_WITH.exec(firstLine)?.[1] ?? null };
    }),
  );
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly compatible_with: string | null;
}

async function applyMissing(
  client: pg.PoolClient,
  files: readonly Migration[],
  version: string,
): Promise<readonly string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
  await client.query("comment on table schema_migrations is 'The SQL files of migrations/ that were applied.'");
  await client.query('alter table schema_migrations add column if not exists compatible_with text');
  const { rows } = await client.query<AppliedMigration>(
    'select name, checksum, compatible_with from schema_migrations order by name',
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  const known = new Set(files.map((file) => file.name));
  for (const { name, compatible_with: oldest } of rows) {
    if (known.has(name) || (oldest !== null && !isOlder(version, oldest))) continue;
    throw new OperatorError(
      `the database was changed by a newer release in a way that ${version} cannot work with (it has ${name}); start that release again`,
    );
  }
  const done: string[] = [];
  for (const { name, sql, checksum, compatibleWith } of files) {
    const before = applied.get(name);
    if (before === checksum) continue;
    if (before !== undefined) throw new OperatorError(`the migration ${name} was changed after it was applied`);
    await client.query('begin');
    const statements = { text: sql, query_timeout: MIGRATION_LIMIT_MS };
    await client.query(statements);
    await client.query('insert into schema_migrations (name, checksum, compatible_with) values ($1, $2, $3)', [
      name,
      checksum,
      compatibleWith,
    ]);
    await client.query('commit');
    done.push(name);
  }
  return done;
}

/** Both as `major.minor.patch`. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
