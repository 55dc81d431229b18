/** What alerts tell once: all of it, however much there is, and not again when what was told of it is old. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { forgetOldEvents } from '../../src/control/alerts/alert-events.ts';
import { insertAlert, type NewAlert } from '../../src/control/alerts/alert-store.ts';
import { lookAtAlerts } from '../../src/control/alerts/watch-alerts.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

let server: TestPostgres;
let pool: pg.Pool;
beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  server = await startPostgres(kind);
  pool = openTestPool(await server.createDatabase('alerts'));
}, 60_000);
afterAll(async () => {
  await pool.end();
  await server.remove();
});
beforeEach(() =>
  pool.query('truncate alerts, alert_events, budgets, budget_spend, jobs, nodes, llm_cost_hourly cascade'),
);

async function addAlert(kind: NewAlert['kind'], settings: object = {}): Promise<void> {
  const given = { accountId: 1, name: 'a', kind, settings, destinations: [], isOn: true, createdBy: 'me' };
  await insertAlert(pool, given);
  await pool.query("update alerts set created_at = now() - interval '400 days'");
}

/** As if its time had come. Returns how many were found anew. */
async function look(): Promise<number> {
  await pool.query('update alerts set checked_at = null');
  const found = await lookAtAlerts({ pool, nowMs: Date.now });
  expect((await pool.query('select problem from alerts')).rows).toEqual([{ problem: null }]);
  return found;
}

async function lookTillNothingIsNew(): Promise<number> {
  let sum = 0;
  for (let round = 0; round < 5; round += 1) sum += await look();
  return sum;
}

async function addBudget(period: string): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    "insert into budgets (account_id, name, scope, amount, period) values (1, 'b', 'run', 1, $1) returning id",
    [period],
  );
  return rows[0]?.id ?? 0;
}

const addSpend = (budgetId: number, runs: number, periodStart: string) =>
  pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     select 1, $1, 'run ' || n, $2, 'node', 1, 1 from generate_series(1, $3) n`,
    [budgetId, periodStart, runs],
  );

const addFailedJobs = (count: number, ago: string) =>
  pool.query(
    `insert into jobs (account_id, kind, title, input, phase, unit, state, finished_at)
     select 1, 'none', 'j', '{}', 'p', 'u', 'failed', now() - $1::interval from generate_series(1, $2)`,
    [ago, count],
  );

/** One of them unnamed. */
const addUnpriced = (models: number) =>
  pool.query(
    `insert into llm_cost_hourly (account_id, facet, hour, value, provider, model, key_id, calls, errors, unpriced_calls,
       total_cost, input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens)
     select 1, '', date_trunc('hour', now()), '', 'openai', nullif('m' || n, 'm1'), 1, 1, 0, 1, 0, 0, 0, 0, 0, 0
     from generate_series(1, $1) n`,
    [models],
  );

const age = () => pool.query("update alert_events set fired_at = now() - interval '91 days'");
const count = async () => (await pool.query('select from alert_events')).rowCount;

test('more than a hundred values of a budget are all told, each once', async () => {
  await addAlert('budget');
  await addSpend(await addBudget('day'), 250, '2026-11-30T23:00:00.5Z');
  expect(await lookTillNothingIsNew()).toBe(250);
  expect((await pool.query("select subject from alert_events where subject like '%run 7 %'")).rows).toEqual([
    { subject: expect.stringMatching(/^budget \d+ run 7 2026-11-30T23:00:00\.500Z 80$/) },
  ]);
});

test('more than a hundred models without a price and failed jobs are all told, each once', async () => {
  await addAlert('unpriced');
  await addUnpriced(150);
  expect(await lookTillNothingIsNew()).toBe(150);
  await pool.query('truncate alerts cascade');
  await addAlert('jobs');
  await addFailedJobs(150, '1 minute');
  expect(await lookTillNothingIsNew()).toBe(150);
});

test('a silent node is told of, however many have given a sign of life since', async () => {
  await addAlert('nodes', { silent_seconds: 60, records_waiting: 10 });
  for (let number = 0; number < 121; number += 1)
    await pool.query(
      `insert into nodes (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, processes, own_settings)
       values ($1, $2, 'h', '0', $1, now(), now() - make_interval(secs => $3), 0, '{}', '{}')`,
      [randomUUID(), `node ${number}`, number === 0 ? 600 : 0],
    );
  expect(await look()).toBe(1);
});

test('what is told once is not told again when the event is old', async () => {
  await addAlert('budget');
  const id = await addBudget('once');
  await addSpend(id, 1, '1970-01-01T00:00:00Z');
  expect(await look()).toBe(1);
  await age();
  await forgetOldEvents(pool);
  expect(await look()).toBe(0);
  // Nobody spends of it any more.
  await pool.query('truncate budget_spend');
  await forgetOldEvents(pool);
  expect(await count()).toBe(0);

  await pool.query('truncate alerts cascade');
  await addAlert('unpriced');
  await addUnpriced(2);
  expect(await look()).toBe(2);
  await age();
  await forgetOldEvents(pool);
  expect(await look()).toBe(0);

  await pool.query('truncate alerts cascade');
  await addAlert('jobs');
  await addFailedJobs(1, '1 day');
  expect(await look()).toBe(1);
  await pool.query("update jobs set finished_at = now() - interval '91 days'");
  await age();
  await forgetOldEvents(pool);
  expect(await count()).toBe(0);
  expect(await look()).toBe(0);
});

test('what lasts for longer than events are kept is not told again meanwhile, and forgotten when it is over', async () => {
  await addAlert('nodes', { silent_seconds: 60 });
  const node = randomUUID();
  await pool.query(
    `insert into nodes (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, processes, own_settings)
     values ($1, 'n', 'h', '0', $1, now(), now() - interval '100 days', 0, '{}', '{}')`,
    [node],
  );
  expect(await look()).toBe(1);
  await age();
  await forgetOldEvents(pool);
  expect(await look()).toBe(0);
  await pool.query('delete from nodes');
  expect(await look()).toBe(0);
  await forgetOldEvents(pool);
  expect(await count()).toBe(0);
});

test('the operator’s alert about jobs, which tells those of all accounts, is changed and deleted by the operator alone', async () => {
  const adminToken = 'the-admin-token-of-this-gateway-here';
  const app = createAdminApp(bareAdminDeps({ adminToken, database: () => pool }));
  const ask = async (token: string, method: string, path: string, body: object) => {
    const headers = { host: '127.0.0.1:4142', 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await app.request(`http://127.0.0.1:4142/api/v1${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const said: { id?: number; token?: string } = Object(await answer.json());
    return { status: answer.status, ...said };
  };
  const { token = '' } = await ask(adminToken, 'POST', '/tokens', { name: 'member', scopes: ['read', 'manage'] });
  const jobs = { name: 'jobs', kind: 'jobs' };
  const [operators, own] = [await ask(adminToken, 'POST', '/alerts', jobs), await ask(token, 'POST', '/alerts', jobs)];
  const edit = async (who: string, id: number | undefined, body: object) =>
    (await ask(who, 'PATCH', `/alerts/${id}`, body)).status;
  const remove = async (who: string, id: number | undefined) => (await ask(who, 'DELETE', `/alerts/${id}`, {})).status;
  expect([
    await edit(token, operators.id, { destinations: [] }),
    await edit(token, operators.id, { name: 'mine' }),
    await edit(adminToken, operators.id, { name: 'ours' }),
    await edit(token, own.id, { name: 'mine' }),
    await remove(token, operators.id),
    await remove(adminToken, operators.id),
    await remove(token, own.id),
  ]).toEqual([403, 403, 200, 200, 403, 200, 200]);
});
