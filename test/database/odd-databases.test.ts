/** Databases, roles and ways to a database that are not as usual: worked with, or refused in a line that says what to do. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isDatabaseDown } from '../../src/control/store/database-error.ts';
import { insertKey } from '../../src/control/store/gateway-keys.ts';
import { judgeDatabase } from '../../src/control/store/judge-database.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { openSingleConnection } from '../../src/control/store/single-connection.ts';
import { MIGRATIONS, openMigrated, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';

const ODD_SETTINGS: Readonly<Record<string, string>> = {
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Pacific/Chatham',
  bytea_output: 'escape',
  extra_float_digits: '-3',
  // Long enough for the statement that lifts it, also on a busy machine.
  statement_timeout: '100ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  default_transaction_read_only: 'on',
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  client_encoding: 'LATIN1',
  array_nulls: 'off',
  synchronous_commit: 'off',
  gin_fuzzy_search_limit: '1',
  exit_on_error: 'on',
  default_tablespace: 'pg_default',
  temp_tablespaces: 'pg_default',
};

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  let usual: string;

  beforeAll(async () => {
    server = await startPostgres(kind);
    usual = await server.createEmptyDatabase('usual');
  });
  afterAll(() => server?.remove());

  async function run(url: string, ...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  function nameIn(url: string, database: string): string {
    const other = new URL(url);
    other.pathname = `/${database}`;
    return other.href;
  }

  const judge = (connectionString: string) => judgeDatabase({ connectionString, applicationName: 'test' });

  test('a usual one is taken', async () => {
    expect(await judge(usual)).toEqual({ warning: null });
  });

  test('one in LATIN1 is refused', async () => {
    await run(usual, `create database latin encoding 'LATIN1' locale 'C' template template0`);
    await expect(judge(nameIn(usual, 'latin'))).rejects.toThrow(
      "DATABASE_URL: the database latin is in LATIN1, which cannot hold every text: make one in UTF-8 (create database … encoding 'UTF8' template template0) and name that",
    );
  });

  test('one in SQL_ASCII is taken with a word, and gives every text back', async () => {
    await run(usual, `create database plain encoding 'SQL_ASCII' locale 'C' template template0`);
    const url = nameIn(usual, 'plain');
    expect(await judge(url)).toEqual({ warning: expect.stringContaining('the database plain is in SQL_ASCII') });
    const pool = await openMigrated(url);
    const { rows } = await pool.query('select $1::text as text, $2::jsonb as json', ['€ 你好', '{"k":"€ 你好"}']);
    expect(rows).toEqual([{ text: '€ 你好', json: { k: '€ 你好' } }]);
    await pool.end();
  });

  test('one that takes fewer connections than a node needs is taken with a word, whoever says so', async () => {
    const url = await server.createEmptyDatabase('few');
    await run(url, 'create role few login connection limit 9', 'grant all on schema public to few');
    const few = url.replace('postgres@', 'few@');
    expect(await judge(few)).toEqual({
      warning: 'the role few takes 9 connections at a time, and each node needs 18: alter role few connection limit 18',
    });
    await run(url, 'alter role few connection limit -1', 'alter database few connection limit 10');
    expect(await judge(few)).toEqual({
      warning:
        'the database few takes 10 connections at a time, and each node needs 18: alter database few connection limit 18',
    });
    const judgeForProxy = () => judgeDatabase({ connectionString: few, applicationName: 'test' }, 'proxy');
    expect(await judgeForProxy()).toEqual({ warning: null });
    await run(url, 'alter database few connection limit 6');
    expect(await judgeForProxy()).toEqual({
      warning:
        'the database few takes 6 connections at a time, and each node of this role needs 7: alter database few connection limit 7',
    });
    await run(url, 'alter database few connection limit 18');
    expect(await judge(few)).toEqual({ warning: null });
  });

  test('a role whose settings are odd is worked with as any other', async () => {
    const url = await server.createEmptyDatabase('odd_role');
    await run(
      url,
      'create role odd login superuser',
      ...Object.entries(ODD_SETTINGS).map(([name, value]) => `alter role odd set ${name} = '${value}'`),
    );
    const odd = url.replace('postgres@', 'odd@');
    expect(await judge(odd)).toEqual({ warning: null });
    const pool = await openMigrated(odd);
    const plain = {
      accountId: 1,
      prefix: 'tgk_',
      last4: 'abcd',
      expiresAtMs: null,
      usage: null,
      bodies: null,
      allowInAddress: false,
      runsFrom: [],
    } as const;
    const stored = await insertKey(pool, { ...plain, name: 'é \\ "x"', digest: 'd'.repeat(64) });
    expect(stored.key.name).toBe('é \\ "x"');
    expect(Math.abs(stored.key.createdAtMs - Date.now())).toBeLessThan(600_000);
    const { rows } = await pool.query(
      `select '\\x00ff'::bytea as bytes, '1 day 2 hours'::interval::text as interval, array[null, 'a'] as list,
         $1::text[] as given, 1.1::float8 as number, '2026-02-03T04:05:06Z'::timestamptz as at,
         current_setting('synchronous_commit') as commit, current_setting('statement_timeout') as timeout`,
      [[null, 'ü']],
    );
    expect(rows).toEqual([
      {
        bytes: Buffer.from([0, 255]),
        interval: '1 day 02:00:00',
        list: [null, 'a'],
        given: [null, 'ü'],
        number: 1.1,
        at: new Date('2026-02-03T04:05:06Z'),
        commit: 'on',
        timeout: '1min',
      },
    ]);
    await pool.end();
    const single = await openSingleConnection({ connectionString: odd, applicationName: 'test' });
    const shown = await single.query('show statement_timeout');
    expect(shown.rows).toEqual([{ statement_timeout: '0' }]);
    await single.end();
  });

  test('a search path that leads nowhere is refused, and one that leads away from the log as well', async () => {
    const url = await server.createEmptyDatabase('paths');
    await run(
      url,
      'create role lost login superuser',
      'create role strayed login superuser',
      'create schema elsewhere',
    );
    await run(url, "alter role lost set search_path = 'nowhere'", "alter role strayed set search_path = 'elsewhere'");
    await expect(judge(url.replace('postgres@', 'lost@'))).rejects.toThrow(
      'DATABASE_URL: search_path (nowhere) names no schema that is there and may be used: make the schema, or alter role … set search_path = public',
    );
    // A schema of its own is as good as public, as long as there is no log in another.
    expect(await judge(url.replace('postgres@', 'strayed@'))).toEqual({ warning: null });
    const pool = await openMigrated(url);
    await pool.end();
    await expect(judge(url.replace('postgres@', 'strayed@'))).rejects.toThrow(
      'DATABASE_URL: the log of this database is in the schema public, and search_path (elsewhere) leads to elsewhere: alter role … set search_path = public, or use another database',
    );
  });

  test('a user who may make no tables is refused', async () => {
    const url = await server.createEmptyDatabase('foreign_one');
    await run(url, 'create role guest login');
    await expect(judge(url.replace('postgres@', 'guest@'))).rejects.toThrow(
      'DATABASE_URL: guest may not make tables in the schema public: grant create on schema public to guest, or let it own the database',
    );
  });

  test.each([1, 2, 5])('a pooler in transaction mode with %i connections is refused', async (size) => {
    const pooler = await startTransactionPooler(usual, size);
    await expect(judge(pooler.connectionString)).rejects.toThrow(
      'DATABASE_URL leads to a connection pooler in transaction or statement mode, where locks and temporary tables do not stay with a connection: use its session mode, or connect to PostgreSQL directly',
    );
    await pooler.close();
  });

  test('who waits for another migration is told who holds its lock', async () => {
    const url = await server.createEmptyDatabase('waits');
    const holder = await openSingleConnection({ connectionString: url, applicationName: 'left behind' });
    await holder.query('select pg_advisory_lock(7461001)');
    const pool = openTestPool(url);
    const told = Promise.withResolvers<string>();
    const migrated = migrate(pool, MIGRATIONS, undefined, told.resolve);
    expect(await told.promise).toMatch(
      /^waiting for the lock of the migrations, which process \d+ of the database \("left behind", connected since 20\S+Z\) holds, though it lies idle: a pooler may have kept it when its gateway went; end it with select pg_terminate_backend\(\d+\)$/,
    );
    await holder.end();
    expect((await migrated).length).toBeGreaterThan(5);
    await pool.end();
  });

  test('a server that takes no changes any more is left, with all connections to it', async () => {
    const pool = openTestPool(await server.createEmptyDatabase('failed_over'), { max: 3 });
    const pids = async () => {
      const clients = await Promise.all(
        [1, 2, 3].map(() => pool.query('select pg_backend_pid() as pid, pg_sleep(0.05)')),
      );
      return clients.map(({ rows }) => Number(rows[0]['pid']));
    };
    const before = await pids();
    const refused = await inTransaction(pool, async (client) => {
      await client.query('set transaction read only');
      await client.query('create table t ()');
    }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: '25006' });
    expect(isDatabaseDown(refused)).toBe(true);
    const after = await pids();
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    await pool.end();
  });
});
