/** SQL on the log for people: the role, what it may not see, and the questions of docs/sql.md. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdminDatabase, endedCall, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const DOC = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'sql.md'), 'utf8');
const QUESTIONS = [...DOC.matchAll(/^```sql\n(select[\s\S]*?)```/gm)].map(([, text = '']) => text);

/** Whether a password is the one of a SCRAM verifier: `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`. */
function isPasswordOf(verifier: string, password: string): boolean {
  const [, iterations = '', salt = '', storedKey = ''] = /\$(\d+):([^$]+)\$([^:]+):/.exec(verifier) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  return createHash('sha256').update(clientKey).digest('base64') === storedKey;
}

describe.each(POSTGRES_KINDS)('SQL on the log of $name', (kind) => {
  let database: AdminDatabase;
  let reader: pg.Client;

  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    // It is ended from the other side when the role is removed.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function makeAccess(): Promise<string> {
    const { status, body } = await database.send('POST', '/sql-access');
    expect(status).toBe(201);
    return String(Object(body).url);
  }

  beforeAll(async () => {
    database = await startAdminDatabase(kind);
    await database.store(
      endedCall(
        1,
        { metadata: [['Feature', 'search']], spanPath: 'agent/plan', traceId: 'run' },
        { usage: tokens(10, 1) },
      ),
      endedCall(
        2,
        { metadata: [['feature', 'search']], spanPath: 'agent//plan', traceId: 'run' },
        { usage: tokens(20, 2) },
      ),
      endedCall(
        3,
        {
          metadata: [
            ['FEATURE', 'chat'],
            ['feature', 'two'],
          ],
        },
        { usage: null, usageSource: 'none' },
      ),
    );
    reader = await connect(await makeAccess());
  });
  afterAll(async () => {
    await reader.end().catch(() => {});
    await database.stop();
  });

  const refusal = async (sql: string): Promise<string> => {
    const error: unknown = await reader.query(sql).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return String(Object(error).code);
  };

  test('the views have the calls, under lower-cased metadata, and steps in one spelling', async () => {
    const { rows } = await reader.query(
      `select metadata, span_path, total_cost is null as unknown, key_name from calls
       where requested_at >= $1 order by requested_at`,
      [new Date(NOON_MS)],
    );
    expect(rows).toEqual([
      { metadata: { feature: 'search' }, span_path: 'agent/plan', unknown: false, key_name: null },
      { metadata: { feature: 'search' }, span_path: 'agent/plan', unknown: false, key_name: null },
      { metadata: { feature: 'chat, two' }, span_path: null, unknown: true, key_name: null },
    ]);
    const { rows: sums } = await reader.query(
      `select (select sum(total_cost) from costs_hourly) = (select sum(coalesce(total_cost, known_cost)) from calls) as hourly,
         (select total_cost from runs where trace_id = 'run') = (select sum(total_cost) from calls where trace_id = 'run') as run`,
    );
    expect(sums).toEqual([{ hourly: true, run: true }]);
  });

  test('there are ten questions in the document, and each has an answer', async () => {
    expect(QUESTIONS).toHaveLength(10);
    for (const question of QUESTIONS) await reader.query(question);
  });

  test.each([
    ['select 1 from public.llm_requests', '42501'],
    ['select 1 from public.llm_bodies', '42501'],
    ['select digest from public.gateway_keys', '42501'],
    ['select digest from public.login_codes', '42501'],
    ['update runs set calls = 0', '42501'],
    ['begin read write; update runs set calls = 0', '42501'],
    ['begin read write; create table reporting.mine (a int)', '42501'],
    ['begin read write; create table public.mine (a int)', '42501'],
    ['create role other', '25006'],
  ])('the role may not: %s', async (sql, code) => {
    expect(await refusal(sql)).toBe(code);
    await reader.query('rollback');
  });

  test('made again it has another password, and the former one is refused', async () => {
    const former = await makeAccess();
    const url = await makeAccess();
    expect(url).not.toBe(former);
    // The server of a test asks for no password: so what it has stored is compared.
    const { rows } = await database.pool.query<{ rolpassword: string }>(
      "select rolpassword from pg_authid where rolname = 'lists_reader'",
    );
    const stored = rows[0]?.rolpassword ?? '';
    expect(stored).toMatch(/^SCRAM-SHA-256\$/);
    const isStored = (address: string) => isPasswordOf(stored, decodeURIComponent(new URL(address).password));
    expect([isStored(former), isStored(url)]).toEqual([false, true]);
  });

  test('removed, it ends its sessions, and there is none to remove', async () => {
    const closed = new Promise((resolve) => reader.once('end', resolve));
    expect((await database.send('DELETE', '/sql-access')).status).toBe(200);
    await closed;
    expect((await database.send('DELETE', '/sql-access')).status).toBe(404);
    expect((await database.send('POST', '/sql-access')).status).toBe(201);
  });

  test('a gateway that may not create roles says so, and where the statements are', async () => {
    const { rows } = await database.pool.query<{ name: string }>('select current_user as name');
    await database.pool.query('create role weak login; grant usage on schema reporting to weak');
    // The user of the gateway gives up its rights for the length of the question.
    await database.pool.query(`alter role ${rows[0]?.name} set role = 'weak'`);
    const idle = await database.pool.query<{ pid: number }>(
      "select pid from pg_stat_activity where usename = session_user and pid <> pg_backend_pid() and state = 'idle'",
    );
    for (const { pid } of idle.rows) await database.pool.query('select pg_terminate_backend($1)', [pid]);
    await database.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {});
    const { status, body } = await database.send('POST', '/sql-access');
    expect([status, Object(Object(body).error).code]).toEqual([409, 'role_forbidden']);
  });
});
