/** An account that keeps less than the gateway: its old calls and bodies go from days that others keep, and sums stay right. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { sweepAccounts } from '../../src/control/process/sweep-accounts.ts';
import { indexNext } from '../../src/control/search/index-next.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { ADMIN_TOKEN, type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { callBody, NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
const DAY_MS = 86_400_000;
const LIMITS = { rowsDays: 90, bodiesDays: 14 };
let stage: AdminDatabase;
let pool: pg.Pool;
let second = 0;
let secondKey = 0;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no server');
  stage = await startAdminDatabase(kind);
  ({ pool } = stage);
  await stage.send('POST', '/keys', { name: 'first' });
  second = ((await stage.send('POST', '/accounts', { name: 'second' })).body as { id: number }).id;
  const headers = { 'x-tollgate-account': String(second) };
  secondKey = ((await stage.send('POST', '/keys', { name: 'theirs' }, headers)).body as { id: number }).id;
  await pool.query(
    "insert into deployment_settings (name, value, set_by, actor) values ('retention_rows', '90', 'node', ''), ('retention_bodies', '14', 'node', '')",
  );
}, 60_000);
afterAll(() => stage.stop());

const at = (day: number, number: number) => day * DAY_MS + number;

function call(number: number, accountId: number, traceId: string | null): SpoolEntry[] {
  const text = JSON.stringify({ messages: [{ role: 'user', content: 'about zebras' }] });
  const whose = accountId === 1 ? {} : { accountId, keyId: secondKey };
  return [
    { type: 'body', body: { ...callBody(number, 'request', Buffer.from(text)), id: idAt(number) } },
    endedCall(number, { ...whose, traceId, metadata: [['Team', 'red']] }),
  ];
}

async function setRetention(days: object): Promise<number> {
  const answer = await fetch(`${stage.url}/api/v1/accounts/${second}/retention`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', origin: stage.url },
    body: JSON.stringify(days),
  });
  return answer.status;
}

async function count(table: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ account: number; calls: number }>(
    `select r.account_id as account, count(*)::int4 as calls from ${table} t join llm_requests r using (id, requested_at)
     group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ account, calls }) => [account === 1 ? 'first' : 'second', calls]));
}

const sweepOn = (day: number) =>
  sweepAccounts({ pool, limits: LIMITS, readTime: () => Promise.resolve(NOON_MS + day * DAY_MS) });

async function settled(): Promise<void> {
  while (await foldRollups(pool));
  while ((await indexNext({ pool, segmentCalls: 2 })) === 'indexed');
}

test('an account may keep less than the gateway, and no more', async () => {
  expect(await setRetention({ retention_rows: 91, retention_bodies: null })).toBe(409);
  expect(await setRetention({ retention_rows: 5, retention_bodies: 0 })).toBe(400);
  expect(await setRetention({ retention_rows: 5, retention_bodies: 2 })).toBe(200);
  const { rows } = await pool.query(
    "select account_id, before, after from audit_log where action = 'account.retention'",
  );
  expect(rows).toEqual([
    {
      account_id: second,
      before: { retention_rows: null, retention_bodies: null },
      after: { retention_rows: 5, retention_bodies: 2 },
    },
  ]);
});

test('bodies and texts of whole days past go first, those of other accounts stay', async () => {
  for (const account of [1, second])
    await stage.store(
      ...[at(0, account * 10), at(0, account * 10 + 1), at(1, account * 10), at(6, account * 10)].flatMap((number) =>
        call(number, account, 'a run'),
      ),
      ...call(at(0, account * 10 + 2), account, 'short'),
    );
  await settled();
  // The day of the calls is not over, or not two days old.
  for (const day of [0, 1, 2]) expect(await sweepOn(day)).toEqual({ calls: 0, bodies: 0 });
  expect(await sweepOn(3)).toEqual({ calls: 0, bodies: 6 });
  expect(await count('llm_bodies')).toEqual({ first: 5, second: 2 });
  expect(await count('llm_texts')).toEqual({ first: 5, second: 2 });
  expect(await count('llm_requests')).toEqual({ first: 5, second: 5 });
  expect(await sweepOn(3)).toEqual({ calls: 0, bodies: 0 });
});

test('then its calls go; runs are cut as a dropped day leaves them, and sums and search agree with what is left', async () => {
  const before = await stage.read('/costs?group_by=model');
  expect(await sweepOn(7)).toMatchObject({ calls: 4 });
  await settled();
  expect(await count('llm_requests')).toEqual({ first: 5, second: 1 });
  expect(await verifyRollups(pool)).toEqual([]);
  const { rows } = await pool.query(
    'select account_id = 1 as "isFirst", trace_id, calls::int4, cut_at is not null as "isCut" from llm_runs order by 1, 2',
  );
  expect(rows).toEqual([
    { isFirst: false, trace_id: 'a run', calls: 1, isCut: true },
    { isFirst: false, trace_id: 'short', calls: 1, isCut: true },
    { isFirst: true, trace_id: 'a run', calls: 4, isCut: false },
    { isFirst: true, trace_id: 'short', calls: 1, isCut: false },
  ]);
  const { data: own } = before as { data: { calls: number }[] };
  expect(await stage.read('/costs?group_by=model')).toMatchObject({ data: own });
  expect(((await stage.read('/logs?q=zebras')) as { data: object[] }).data).toHaveLength(5);
  expect(await sweepOn(7)).toMatchObject({ calls: 0 });
});

test('a record that comes late of a day that went goes at the next turn, and a longer limit stops it', async () => {
  await stage.store(...call(at(0, second * 10 + 5), second, 'a run'));
  expect(await sweepOn(7)).toMatchObject({ calls: 1 });
  expect(await setRetention({ retention_rows: null, retention_bodies: null })).toBe(200);
  expect(await sweepOn(80)).toEqual({ calls: 0, bodies: 0 });
  await settled();
  expect(await verifyRollups(pool)).toEqual([]);
  const { rows } = await pool.query(
    "select calls::int4, cut_totals->>'calls' as cut from llm_runs where account_id = $1 and trace_id = 'a run'",
    [second],
  );
  expect(rows).toEqual([{ calls: 1, cut: '4' }]);
});
