/**
 * Applies the SQL files of `migrations/` in the order of their names, each in its own transaction. A file that changed
 * after it was applied is an error. A first line `-- compatible with: 0.2.0` allows that release and later ones to run
 * on the newer schema; any other unknown file stops an older release. Release 0.1.0 stops at every unknown file, so
 * compatible ones are noted in a table that it does not read.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readVersion } from '../../vocabulary/version.ts';
import { describeLockHolder, type LockHolder, readLockHolder } from './lock-holder.ts';
import { beginBriefly } from './lock-tables-briefly.ts';
import { keepConnection } from './pool.ts';

const MIGRATION_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** The number is arbitrary and stays the same in every version. */
const MIGRATION_LOCK = 7_461_001;
/** Filling a new table from a large log takes longer than the pool's limit allows. */
const MIGRATION_LIMIT_MS = 12 * 3_600_000;
const LOCK_POLL_MS = 250;
/** Nodes that start together wait for each other, which is no news. */
const SAY_AFTER_MS = 5_000;

/** The first release that reads the compatibility line. */
const FIRST_TO_LOOK = '0.2.0';

const COMPATIBLE_WITH = /^-- compatible with: (\d+\.\d+\.\d+)\s*$/m;

/**
 * Returns the names of the files applied now; `version` is the running release. Throws an OperatorError when a newer
 * release made the schema and this one cannot use it.
 */
export async function migrate(
  pool: pg.Pool,
  migrationsDir: string,
  version = readVersion(),
  /** Called with the lock's holder after a few seconds of waiting, and when that changes. */
  onWaiting: (text: string) => void = () => {},
): Promise<readonly string[]> {
  const files = await readMigrations(migrationsDir);
  const { client, close } = await keepConnection(pool);
  try {
    await client.query('set statement_timeout = 0');
    await waitForLock(client, onWaiting);
    return await applyMissing(client, files, version);
  } finally {
    // The lock and the changed timeout end with the connection.
    close();
  }
}

/** Polls instead of queueing: a queued client could neither ask for the holder nor be stopped. */
async function waitForLock(client: pg.ClientBase, onWaiting: (text: string) => void): Promise<void> {
  const startedMs = performance.now();
  let said = '';
  for (;;) {
    const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_lock($1) as "isOurs"', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.isOurs === true) return;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > MIGRATION_LIMIT_MS) throw new Error('the lock of the migrations was not free in time');
    const holder = waitedMs < SAY_AFTER_MS ? null : await readLockHolder(client, MIGRATION_LOCK);
    const text = holder === null ? said : describeWait(holder);
    if (text !== said) onWaiting(text);
    said = text;
    await sleep(LOCK_POLL_MS, undefined, { ref: false });
  }
}

/** An idle holder was left behind, mostly by a pooler. */
function describeWait(holder: LockHolder): string {
  const waiting = `waiting for the lock of the migrations, which ${describeLockHolder(holder)} holds`;
  if (holder.idleMs === null || holder.idleMs < SAY_AFTER_MS) return waiting;
  return `${waiting}, though it lies idle: a pooler may have kept it when its gateway went; end it with select pg_terminate_backend(${holder.pid})`;
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** The oldest release that can use the schema; null when only releases with the file can. */
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
  if (!(await hasLists(client))) await makeLists(client);
  const { rows } = await client.query<AppliedMigration>(
    `select name, checksum, compatible_with from schema_migrations
     union all select name, checksum, compatible_with from schema_additions order by name`,
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
    const statements = { text: sql, query_timeout: MIGRATION_LIMIT_MS };
    await beginBriefly(client, `the migration ${name}`, () => client.query(statements));
    const isAddition = compatibleWith !== null && isOlder(compatibleWith, FIRST_TO_LOOK);
    const table = isAddition ? 'schema_additions' : 'schema_migrations';
    await client.query(`insert into ${table} (name, checksum, compatible_with) values ($1, $2, $3)`, [
      name,
      checksum,
      compatibleWith,
    ]);
    await client.query('commit');
    done.push(name);
  }
  return done;
}

/** An unneeded change would wait for every reader, such as a backup of hours. */
async function hasLists(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>(
    `select to_regclass('schema_additions') is not null and exists (
       select from pg_attribute
       where attrelid = to_regclass('schema_migrations') and attname = 'compatible_with' and not attisdropped) as has`,
  );
  return rows[0]?.has === true;
}

/** Also brings the lists of 0.1.0 up to date. */
async function makeLists(client: pg.PoolClient): Promise<void> {
  await beginBriefly(client, 'the list of migrations', async () => {
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
    await client.query("comment on table schema_migrations is 'The SQL files of migrations/ that were applied.'");
    await client.query('alter table schema_migrations add column if not exists compatible_with text');
    await client.query(`create table if not exists schema_additions (
      name text primary key, checksum text not null, applied_at timestamptz not null default now(),
      compatible_with text not null)`);
    await client.query(
      "comment on table schema_additions is 'As schema_migrations: files that only add, which release 0.1.0 must not see.'",
    );
  });
  await client.query('commit');
}

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
