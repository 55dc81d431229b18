/** The audit log: every change has its row, nobody changes a row, and whoever does is found. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuditEntry, AuditEntryShape, NO_HASH } from '../../src/control/audit/audit-entry.ts';
import { forgetEntries } from '../../src/control/audit/forget-entries.ts';
import { noteChange } from '../../src/control/audit/note-change.ts';
import { checkChain } from '../../src/control/audit/verify-chain.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;

let stage: AdminDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no server');
  stage = await startAdminDatabase(kind);
  ({ pool } = stage);
}, 60_000);
afterAll(() => stage.stop());

async function exported(): Promise<readonly AuditEntry[]> {
  const text = await (await stage.ask('/audit/export')).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => AuditEntryShape.parse(JSON.parse(line)));
}

async function latest(): Promise<AuditEntry | undefined> {
  return (await exported()).at(-1);
}

test('a change has its row with who, from where, before and after, and without the secret', async () => {
  const { body } = await stage.send('POST', '/keys', { name: 'first' }, { 'x-tollgate-actor': 'ann@desk' });
  const { id, key } = body as { id: number; key: string };
  expect(await latest()).toMatchObject({
    account_id: 1,
    actor_kind: 'operator',
    actor_name: 'admin token, as stated by ann@desk',
    from_address: '127.0.0.1',
    action: 'key.create',
    subject_kind: 'key',
    subject_id: String(id),
    before: null,
    after: { name: 'first', revokedAtMs: null },
  });
  await stage.send('DELETE', `/keys/${id}`);
  expect(await latest()).toMatchObject({
    action: 'key.revoke',
    before: { name: 'first', revokedAtMs: null },
    after: { name: 'first', revokedAtMs: expect.any(Number) },
  });
  expect(JSON.stringify(await exported())).not.toContain(key.slice(8, 40));
});

test('changes of every resource have one row each', async () => {
  const settingsUrl = `${stage.url}/api/v1/settings/estimates`;
  const headers = { authorization: 'Bearer test-admin-token', 'content-type': 'application/json' };
  const before = (await exported()).length;
  const { body: key } = await stage.send('POST', '/keys', { name: 'k' });
  const keyId = (key as { id: number }).id;
  await stage.send('POST', `/keys/${keyId}/rotate`, { overlap_seconds: 60 });
  await stage.send('POST', '/read-tokens', { name: 'reader' });
  await stage.send('POST', '/run-tokens', { key_id: keyId, name: 'r', trace_id: 't', metadata: { User: 'ann' } });
  await stage.send('POST', '/metadata-keys/env/promote');
  await stage.send('POST', '/runs/grouping', { action: 'group', from: null, to: null });
  await stage.send('POST', '/prices/mappings', { provider: 'openai', model: 'mine', billing_model: 'gpt-5' });
  await stage.send('POST', '/login-links');
  await stage.send('POST', '/people', { email: 'eve@example.com', role: 'viewer' });
  await stage.send('POST', '/tokens', { name: 'report', scopes: ['read'] });
  await stage.send('POST', '/accounts', { name: 'other team' });
  await fetch(settingsUrl, { method: 'PUT', headers, body: JSON.stringify({ value: 'off' }) });
  const added = (await exported()).slice(before);
  expect(added.map(({ action, subject_kind }) => `${action} ${subject_kind}`)).toEqual([
    'key.create key',
    'key.rotate key',
    'read_token.create read_token',
    'run_token.create run_token',
    'job.request job',
    'job.request job',
    'price.added price mapping',
    'login_link.create login_link',
    'person.invite person',
    'api_token.create api_token',
    'account.create account',
    'setting.change setting',
  ]);
  expect(JSON.stringify(added)).not.toContain('"ann"');
});

test('a refused sign-in has a row; a flood of them has a few', async () => {
  const before = (await exported()).length;
  const { status } = await stage.send('POST', '/session', { code: 'wrong' });
  expect(status).toBe(401);
  expect(await latest()).toMatchObject({
    action: 'session.refused',
    actor_kind: 'nobody',
    from_address: '127.0.0.1',
    after: { code: 'code_invalid', not_noted_before: 0 },
  });
  for (let tries = 0; tries < 40; tries += 1) await stage.send('POST', '/session', { code: 'wrong' });
  expect((await exported()).length - before).toBe(20);
});

test('a change that is rolled back leaves no row, and changes at the same time make one chain', async () => {
  const before = (await exported()).length;
  await expect(
    inTransaction(pool, async (client) => {
      await noteChange(client, { accountId: 1, action: 'test.change', subject: { kind: 'test', id: null } });
      throw new Error('not this time');
    }),
  ).rejects.toThrow('not this time');
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      inTransaction(pool, (client) =>
        noteChange(client, {
          accountId: 1,
          action: 'test.change',
          subject: { kind: 'test', id: number },
          before: { zone: 'b', apple: [1.5, null, { b: 1, a: 'ü\u2028\0\ud800' }] },
          after: { secret: `tgk_${'A'.repeat(49)}`, many: 2 ** 70, small: 1e-7 },
        }),
      ),
    ),
  );
  const entries = await exported();
  expect(entries.length - before).toBe(20);
  expect(entries.at(-1)?.after).toEqual({ secret: '***', many: 2 ** 70, small: 1e-7 });
  const check = checkChain({ seq: 0, hash: NO_HASH }, null);
  expect(entries.every(check.add)).toBe(true);
  expect(check.verdict()).toMatchObject({ entries: entries.length, broken: null });
  expect(await stage.read('/audit/verification')).toMatchObject({ holds: true, entries: entries.length });
});

test('the list is filtered and goes on page by page', async () => {
  const first = (await stage.read('/audit?action=test&limit=15')) as { data: AuditEntry[]; next_cursor: string };
  expect(first.data).toHaveLength(15);
  const rest = (await stage.read(`/audit?action=test&limit=15&cursor=${first.next_cursor}`)) as { data: unknown[] };
  expect(rest).toMatchObject({ next_cursor: null, data: { length: 5 } });
  expect(await stage.read('/audit?action=key&actor=ANN')).toMatchObject({ data: [{ action: 'key.create' }] });
  expect(await stage.read('/audit?subject_kind=nothing')).toEqual({ data: [], next_cursor: null });
});

test('nobody changes, deletes or empties the log, not even its owner', async () => {
  for (const statement of [
    "update audit_log set actor_name = 'someone else'",
    'delete from audit_log',
    'truncate audit_log',
  ])
    await expect(pool.query(statement)).rejects.toThrow('the audit log is only added to');
});

test('retention removes a beginning of the chain, keeps its hash, and says so', async () => {
  const before = await exported();
  expect(await inTransaction(pool, (client) => forgetEntries(client, 30))).toBe(0);
  // Rows of two months ago, whose hashes are right.
  await pool.query('alter table audit_log disable trigger user');
  const { seq = 0, hash = '' } = before[4] ?? {};
  await pool.query("update audit_log set at = at - interval '60 days' where seq <= $1", [seq]);
  await pool.query('alter table audit_log enable trigger user');
  expect(await inTransaction(pool, (client) => forgetEntries(client, 30))).toBe(seq);
  const after = await exported();
  expect(after[0]).toMatchObject({ seq: seq + 1, previous_hash: hash });
  expect(after.at(-1)).toMatchObject({
    action: 'audit.forget',
    actor_kind: 'process',
    after: { rows: 5, last_seq: 5, kept_days: 30 },
  });
  expect(await stage.read(`/audit/verification?expect=${hash}`)).toMatchObject({ holds: true, has_expected: true });
});

test('whoever changes a row all the same is found, and so is a chain that was written anew', async () => {
  const entries = await exported();
  const kept = entries.at(-1)?.hash ?? '';
  await pool.query('alter table audit_log disable trigger user');
  await pool.query("update audit_log set actor_name = 'someone else' where seq = 10");
  expect(await stage.read('/audit/verification')).toMatchObject({
    holds: false,
    broken: { seq: 10, why: 'it is not as it was written: its hash is of something else' },
  });
  await pool.query('update audit_log set actor_name = $1 where seq = 10', [entries[4]?.actor_name]);
  expect(await stage.read('/audit/verification')).toMatchObject({ holds: true });
  await pool.query('delete from audit_log where seq = (select max(seq) from audit_log)');
  expect(await stage.read(`/audit/verification?expect=${kept}`)).toMatchObject({
    holds: false,
    has_expected: false,
    broken: { why: expect.stringMatching(/^the latest rows are missing/) },
  });
});
