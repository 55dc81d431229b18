/** Row-level security: what SQL as the role of people and API tokens finds and changes, whatever it asks. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raiseAccountWall, type WallRole } from '../../src/control/store/account-wall.ts';
import { openWalledPool } from '../../src/control/store/walled-pool.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';

describe.each(POSTGRES_KINDS)('on $name', (kind) => {
  let db: AdminDatabase;
  let role: WallRole;
  let own: pg.Pool;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.pool.query("insert into accounts (id, name) values (2, 'second')");
    await db.pool.query(
      `insert into gateway_keys (account_id, name, digest, prefix, last4)
       select account_id, 'key', sha256(account_id::text::bytea), 'tgk_', 'last' from (values (1), (2)) as a (account_id)`,
    );
    const body = (number: number) => ({
      type: 'body' as const,
      body: { ...callBody(number, 'request', Buffer.from('{"messages":[]}')), id: idAt(number) },
    });
    await db.store(
      body(1),
      endedCall(1, { accountId: 1, keyId: 1, traceId: 'run' }),
      body(2),
      endedCall(2, { accountId: 2, keyId: 2, traceId: 'run' }),
    );
    const wall = await raiseAccountWall(db.pool);
    if (wall.kind !== 'up') throw new Error(wall.kind);
    role = wall;
    own = openWalledPool(db.pool, { ...role, accountId: 1 });
  }, 60_000);
  afterAll(() => db.stop());

  const accountsIn = async (pool: pg.Pool, table: string, column = 'account_id') =>
    (await pool.query<{ id: number }>(`select distinct ${column} as id from ${table} order by 1`)).rows.map(
      ({ id }) => id,
    );

  test('every table and view with an account has a policy, and shows rows of one account alone', async () => {
    const { rows } = await db.pool.query<{ name: string; isWalled: boolean; kind: string }>(
      `select c.relname as name, c.relrowsecurity as "isWalled", c.relkind as kind from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition and exists (
         select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id')`,
    );
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => row.kind !== 'v' && !row.isWalled)).toEqual([]);
    const seen = await Promise.all(rows.map(async ({ name }) => [name, await accountsIn(own, name)] as const));
    expect(seen.filter(([, ids]) => ids.some((id) => id !== 1))).toEqual([]);
    expect(await accountsIn(db.pool, 'llm_requests')).toEqual([1, 2]);
    expect(await accountsIn(own, 'llm_requests')).toEqual([1]);
    expect(await accountsIn(own, 'llm_cost_hours')).toEqual([1]);
    await expect(own.query('select from public.llm_requests')).rejects.toThrow(/permission denied/);
    expect(await accountsIn(own, 'accounts', 'id')).toEqual([1]);
    expect((await own.query('select id from llm_bodies')).rows).toEqual([{ id: idAt(1) }]);
  });

  test('no statement changes or makes a row of another account', async () => {
    const foreign = [
      "update gateway_keys set name = 'taken' where account_id = 2",
      "update gateway_keys set name = 'taken'",
      'delete from llm_open_calls where account_id = 2',
    ];
    for (const statement of foreign) await own.query(statement);
    for (const table of ['llm_requests', 'llm_runs', 'llm_texts', 'llm_run_facets'])
      await expect(own.query(`delete from ${table}`), table).rejects.toThrow(/permission denied/);
    expect((await db.pool.query('select name from gateway_keys where account_id = 2')).rows).toEqual([{ name: 'key' }]);
    expect((await db.pool.query('select trace_id from llm_runs where account_id = 2')).rowCount).toBe(1);
    await expect(own.query('update gateway_keys set account_id = 2')).rejects.toThrow(/row-level security/);
    await expect(
      own.query(
        "insert into metadata_keys (account_id, key_lower, display_key, state) values (2, 'a', 'a', 'promoted')",
      ),
    ).rejects.toThrow(/row-level security/);
  });

  test('what is nobody’s or everybody’s secret is out of reach, and partitions are by no way around', async () => {
    for (const table of ['people', 'person_links', 'login_codes', 'ended_sessions', 'llm_closed_calls', 'nodes'])
      await expect(own.query(`select * from ${table}`), table).rejects.toThrow(/permission denied/);
    const { rows } = await db.pool.query<{ name: string }>(
      "select relname as name from pg_class where relispartition and relname like 'llm_requests_p%' limit 1",
    );
    await expect(own.query(`select * from ${rows[0]?.name}`)).rejects.toThrow(/permission denied/);
    await expect(own.query('create table mine ()')).rejects.toThrow(/permission denied/);
  });

  test('without an account nothing is seen, and a transaction that ends leaves nothing behind', async () => {
    const client = await db.pool.connect();
    await client.query(`begin; set local role ${role.role}; set local search_path = ${role.searchPath}`);
    expect((await client.query('select from llm_requests')).rowCount).toBe(0);
    await client.query('commit');
    client.release();
    const walled = await own.connect();
    await walled.query('begin');
    await walled.query('rollback');
    // Outside of a transaction, too.
    expect((await walled.query<{ id: number }>('select account_id as id from llm_requests')).rows).toEqual([{ id: 1 }]);
    await walled.query('begin isolation level repeatable read, read only');
    expect((await walled.query('select from llm_requests')).rowCount).toBe(1);
    await walled.query('commit');
    walled.release();
    expect(await accountsIn(db.pool, 'llm_requests')).toEqual([1, 2]);
  });

  test('it holds through a pooler that lends one connection to all', async () => {
    const pooler = await startTransactionPooler(db.databaseUrl, 1);
    const base = openTestPool(pooler.connectionString, { max: 4 });
    const pools = [1, 2].map((accountId) => openWalledPool(base, { ...role, accountId }));
    const seen = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const pool = pools[index % 2];
        return pool === undefined ? [] : accountsIn(pool, 'llm_requests');
      }),
    );
    expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => [(index % 2) + 1]));
    await base.end();
    await pooler.close();
  });

  test('raising it again changes nothing', async () => {
    expect(await raiseAccountWall(db.pool)).toEqual(role);
  });
});
