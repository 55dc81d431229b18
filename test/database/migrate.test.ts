/** Which release may work with a database that a newer one has changed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../src/control/store/migrate.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const FIRST = { '0001_things.sql': 'create table things (id int8 primary key);' };
const ADDED = { ...FIRST, '0002_colour.sql': '-- compatible with: 0.2.0\nalter table things add column colour text;' };
const CHANGED = { ...ADDED, '0003_names.sql': 'alter table things rename to objects;' };

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let postgres: TestPostgres;
  let pool: pg.Pool;
  let databases = 0;
  const folders: string[] = [];

  function folderOf(files: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
    folders.push(folder);
    for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
    return folder;
  }

  beforeAll(async () => {
    postgres = await startPostgres(kind);
  });
  beforeEach(async () => {
    await pool?.end();
    databases += 1;
    const connectionString = await postgres.createEmptyDatabase(`migrate${databases}`);
    const onIdleError = () => {};
    pool = openPool({ connectionString, max: 2, statementTimeoutMs: 10_000, applicationName: 'test', onIdleError });
  });
  afterAll(async () => {
    await pool?.end();
    await postgres?.remove();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  test('a release goes on with what a newer one has only added to', async () => {
    expect(await migrate(pool, folderOf(ADDED), '0.3.0')).toEqual(['0001_things.sql', '0002_colour.sql']);
    expect(await migrate(pool, folderOf(FIRST), '0.2.0')).toEqual([]);
    expect(await migrate(pool, folderOf(FIRST), '0.10.0')).toEqual([]);
  });

  test('one that is older than the addition allows for is told so', async () => {
    await migrate(pool, folderOf(ADDED), '0.3.0');
    await expect(migrate(pool, folderOf(FIRST), '0.1.9')).rejects.toThrow(
      'the database was changed by a newer release in a way that 0.1.9 cannot work with (it has 0002_colour.sql); start that release again',
    );
  });

  test('a change that is not said to be an addition stops every release that does not have it', async () => {
    await migrate(pool, folderOf(CHANGED), '0.4.0');
    await expect(migrate(pool, folderOf(ADDED), '0.3.0')).rejects.toThrow('(it has 0003_names.sql)');
  });

  test('a file that was changed after it was applied is an error', async () => {
    await migrate(pool, folderOf(FIRST), '0.2.0');
    const changed = { '0001_things.sql': 'create table things (id int4 primary key);' };
    await expect(migrate(pool, folderOf(changed), '0.2.0')).rejects.toThrow(
      'the migration 0001_things.sql was changed after it was applied',
    );
  });

  test('an addition that the first release can work with is not in the list that stops that release', async () => {
    const added = { ...FIRST, '0002_size.sql': '-- compatible with: 0.1.0\nalter table things add column size int4;' };
    expect(await migrate(pool, folderOf(added), '0.2.0')).toEqual(['0001_things.sql', '0002_size.sql']);
    expect(await migrate(pool, folderOf(added), '0.2.0')).toEqual([]);
    expect(await migrate(pool, folderOf(FIRST), '0.1.0')).toEqual([]);
    const { rows } = await pool.query('select name from schema_migrations');
    expect(rows).toEqual([{ name: '0001_things.sql' }]);
  });

  test('a change waits for a long transaction a moment at a time, and others read and write meanwhile', async () => {
    await migrate(pool, folderOf(FIRST), '0.2.0');
    const reader = await pool.connect();
    await reader.query('begin');
    await reader.query('select from things, schema_migrations, schema_additions');
    // Nothing to change: it does not even wait.
    expect(await migrate(pool, folderOf(FIRST), '0.2.0')).toEqual([]);
    await expect(migrate(pool, folderOf(ADDED), '0.2.0')).rejects.toThrow(
      /^the migration 0002_colour.sql waits for tables that others use: process \d+ of the database \("test", connected since .+\) has been in a transaction since .+; it is tried again$/,
    );
    await pool.query('insert into things (id) values (1)');
    await reader.query('commit');
    reader.release();
    expect(await migrate(pool, folderOf(ADDED), '0.2.0')).toEqual(['0002_colour.sql']);
  });

  test('a list of applied files that the first release has written is understood', async () => {
    await pool.query(
      'create table schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    expect(await migrate(pool, folderOf(ADDED), '0.2.0')).toEqual(['0001_things.sql', '0002_colour.sql']);
  });
});
