/** Erasure: what one run's or one user's calls say is gone from every table, every sum is as it was, and late records are erased too. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countedValue } from '../../src/budgets/claims.ts';
import { forgetOldEvents } from '../../src/control/alerts/alert-events.ts';
import { insertAlert, type NewAlert } from '../../src/control/alerts/alert-store.ts';
import { lookAtAlerts } from '../../src/control/alerts/watch-alerts.ts';
import { createEraseKind } from '../../src/control/erasure/erase-job.ts';
import { runJobs } from '../../src/control/jobs/run-jobs.ts';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { indexNext } from '../../src/control/search/index-next.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const [kind] = POSTGRES_KINDS;
const QUESTION = JSON.stringify({ messages: [{ role: 'user', content: 'the zebra of Ann' }] });

let stage: AdminDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no server');
  stage = await startAdminDatabase(kind);
  ({ pool } = stage);
}, 60_000);
afterAll(() => stage.stop());

function call(number: number, user: string, traceId: string | null): SpoolEntry[] {
  return [
    {
      type: 'body',
      body: { ...callBody(number, 'request', Buffer.from(QUESTION)), id: idAt(number) },
    },
    endedCall(
      number,
      {
        traceId,
        spanPath: traceId === null ? null : `plan/${user}`,
        spanName: `for ${user}`,
        path: `/v1/files/${user}`,
        metadata: [
          ['User', user],
          ['Feature', 'search'],
        ],
      },
      { errorMessage: `no answer for ${user}`, providerRequestId: `req_${user}` },
    ),
  ];
}

async function erase(body: object): Promise<{ readonly calls: number }> {
  const { status, body: started } = await stage.send('POST', '/erasures', body);
  expect(status).toBe(202);
  const { job_id: jobId } = started as { job_id: number };
  const { messages, ...rest } = quietLog();
  const log = {
    ...rest,
    info: () => {},
    warn: (fields: object, message: string) => void messages.push(`${message} ${JSON.stringify(fields)}`),
  };
  const endMs = performance.now() + 20_000;
  const runner = runJobs({ pool, kinds: [createEraseKind()], log });
  try {
    for (;;) {
      const { rows } = await pool.query('select state, error, result from jobs where id = $1', [jobId]);
      if (rows[0]?.state === 'done') return rows[0].result;
      if (rows[0]?.state === 'failed') throw new Error(rows[0].error);
      if (performance.now() > endMs)
        throw new Error(`the job does not end: ${JSON.stringify(rows)} ${messages.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await runner.stop();
  }
}

async function fold(): Promise<void> {
  while (await foldRollups(pool));
}

/** Tables that have the text in a row. */
async function findInTables(text: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I', relname) as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`select from ${name} t where t::text like $1 limit 1`, [`%${text}%`]);
    const bytes =
      name === 'llm_bodies'
        ? await pool.query(`select from llm_bodies where position(convert_to($1, 'UTF8') in request) > 0`, [text])
        : null;
    if (rowCount !== 0 || (bytes?.rowCount ?? 0) > 0) found.push(name);
  }
  return found;
}

async function sums(): Promise<unknown> {
  const [costs, runs] = [await stage.read('/costs?group_by=model'), await stage.read('/runs')];
  return {
    costs: (costs as { data: unknown }).data,
    runs: (runs as { data: Record<string, unknown>[] }).data.map(({ trace_id, calls, total_cost, input_tokens }) => [
      trace_id,
      calls,
      total_cost,
      input_tokens,
    ]),
  };
}

/** What other tables say of a user: money, alerts, a pause, a link, a token. */
async function mention(user: string): Promise<void> {
  const body = { name: `for ${user}`, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const window = { from: '2020-01-01T00:00:00Z', to: '2035-01-01T00:00:00Z' };
  const filter = `metadata.User:eq:${user.replace(/[%,:]/g, encodeURIComponent)}`;
  const links = [
    { ...body, page: 'logs', f: [filter], ...window },
    { ...body, name: 'other', page: 'logs', f: ['metadata.User:eq:bob'], ...window },
  ];
  for (const link of links) expect((await stage.send('POST', '/share-links', link)).status).toBe(201);
  const budget = { name: 'each user', scope: 'metadata', metadata_key: 'User', amount_usd: '5', period: 'day' };
  const made = (await stage.send('POST', '/budgets', budget)).body as { id: number };
  await stage.send('POST', '/keys', { name: 'theirs' });
  const words = [user, 'bob'].map((name) => `$4 of $5 are spent by ${name}`);
  await pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     select 1, $1, value, '2026-11-28', node, 1.5, 2 from unnest($2::text[]) value, unnest('{a,b}'::text[]) node`,
    [made.id, [user, 'bob']],
  );
  await pool.query(
    `with alert as (
      insert into alerts (account_id, name, kind, settings, destinations, created_by)
      values (1, 'money', 'jobs', '{}', '{}', 'me') returning id)
    insert into alert_events (account_id, id, alert_id, subject, title, body)
    select 1, gen_random_uuid(), alert.id, 'job ' || number, words, words
    from alert, unnest($1::text[]) with ordinality as told (words, number)`,
    [words],
  );
  await pool.query(
    `insert into brake_hits (account_id, rule, scope, value, action, reason, hit_by)
     select 1, 'manual', 'run', 'run-a', 'alarm', words, 'me' from unnest($1::text[]) words`,
    [words],
  );
  await pool.query(
    `insert into run_tokens (account_id, key_id, digest, metadata, expires_at)
     select 1, min(id), sha256('x'), jsonb_build_array(jsonb_build_array('User', $1::text)), now() - interval '1 minute'
     from gateway_keys`,
    [user],
  );
}

test('a dry run counts and changes nothing', async () => {
  await pool.query(
    "insert into metadata_keys (account_id, key_lower, display_key, state) values (1, 'user', 'User', 'promoted')",
  );
  await stage.store(...[1, 2, 3].flatMap((number) => call(number, 'ann:1,%', 'run-a')));
  await stage.store(...call(4, 'bob', 'run-a'), ...call(5, 'ann:1,%', null), ...call(6, 'bob', 'run-b'));
  await fold();
  while ((await indexNext({ pool, segmentCalls: 2 })) === 'indexed');
  await mention('ann:1,%');
  expect(await erase({ metadata_key: 'user', value: 'ann:1,%' })).toEqual({ calls: 4 });
  expect(await findInTables('ann:1,')).toEqual(
    expect.arrayContaining(['alert_events', 'brake_hits', 'budget_spend', 'llm_requests', 'run_tokens', 'share_links']),
  );
  expect(await stage.read('/erasures')).toMatchObject({ data: [{ dry_run: true, calls: 4 }] });
});

test('a user’s calls say nothing any more, in no table; every sum is as it was; others’ calls are untouched', async () => {
  const before = await sums();
  expect(await erase({ metadata_key: 'User', value: 'ann:1,%', dry_run: false })).toEqual({ calls: 4 });
  await fold();
  expect(await findInTables('ann:1,')).toEqual([]);
  expect(await findInTables(encodeURIComponent(encodeURIComponent('ann:1,')))).toEqual([]);
  expect(await sums()).toEqual(before);
  const { rows: spent } = await pool.query('select value, node, spent, calls from budget_spend order by value, node');
  const erased = expect.stringMatching(/^erased:[0-9a-f]{16}$/);
  expect(spent).toMatchObject([
    { value: 'bob', node: 'a' },
    { value: 'bob', node: 'b' },
    { value: erased, node: 'a', spent: '1.500000000000', calls: 2 },
    { value: erased, node: 'b', spent: '1.500000000000', calls: 2 },
  ]);
  const { rows: told } = await pool.query('select title, ended_at is null as lasts from alert_events order by title');
  expect(told).toEqual([
    { title: '$4 of $5 are spent by bob', lasts: true },
    { title: 'erased', lasts: true },
  ]);
  const { data: links } = (await stage.read('/share-links')) as { data: object[] };
  expect(links).toMatchObject([
    { name: 'other', revoked_at: null },
    { name: 'erased', parameters: {}, revoked_at: expect.any(String) },
  ]);
  expect(await verifyRollups(pool)).toEqual([]);
  expect(await stage.read(`/logs/${idAt(1)}`)).toMatchObject({
    flags: ['erased'],
    trace_id: 'run-a',
    span_path: null,
    span_name: 'gpt-5',
    raw_metadata: {},
    error_message: null,
    total_cost: expect.any(String),
    bodies: null,
  });
  expect(await stage.read(`/logs/${idAt(4)}`)).toMatchObject({ raw_metadata: { User: 'bob' }, flags: [] });
});

test('of a value that budgets count by its digest, its beginning goes too', async () => {
  const user = `carol@example.com ${'x'.repeat(600)}`;
  const counted = countedValue(user);
  expect(counted).toMatch(/^carol@example\.com x{22}… \(SHA-256 [0-9a-f]{64}\)$/);
  const words = `$4 of $5 are spent by ${counted} today`;
  await pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     select account_id, id, $1, '2026-11-28', 'a', 2.5, 3 from budgets where scope = 'metadata'`,
    [counted],
  );
  await pool.query(
    `insert into alert_events (account_id, id, alert_id, subject, title, body)
     select account_id, gen_random_uuid(), id, 'budget', $1, '' from alerts limit 1`,
    [words],
  );
  expect(await erase({ metadata_key: 'User', value: user, dry_run: false })).toEqual({ calls: 0 });
  expect(await findInTables('carol@')).toEqual([]);
  const { rows } = await pool.query('select value from budget_spend where spent = 2.5');
  expect(rows).toEqual([{ value: expect.stringMatching(/^erased:[0-9a-f]{16}$/) }]);
});

test('the search finds the other calls, and the erased ones not, before and after they are indexed again', async () => {
  const found = async () =>
    ((await stage.read('/logs?q=zebra')) as { data: { id: string }[] }).data.map(({ id }) => id);
  expect(await found()).toEqual([idAt(6), idAt(4)]);
  while ((await indexNext({ pool, segmentCalls: 2 })) === 'indexed');
  expect(await found()).toEqual([idAt(6), idAt(4)]);
  expect((await stage.read('/logs?q=bob')) as object).toMatchObject({ data: { length: 2 } });
});

test('a record that comes later, of a call of before, is erased when it is stored; a call of afterwards is not', async () => {
  await stage.store(...call(7, 'ann:1,%', 'run-a'), ...call(8, 'bob', 'run-a'));
  await fold();
  expect(await findInTables('ann:1,')).toEqual([]);
  expect(await stage.read(`/logs/${idAt(7)}`)).toMatchObject({ flags: ['erased'] });
  expect(await stage.read(`/logs/${idAt(8)}`)).toMatchObject({ flags: [] });
  expect(await verifyRollups(pool)).toEqual([]);
  await pool.query("update erasures set asked_at = '2000-01-01'");
  await stage.store(...call(9, 'ann:1,%', null));
  expect(await stage.read(`/logs/${idAt(9)}`)).toMatchObject({ raw_metadata: { User: 'ann:1,%' } });
});

test('a run is erased by its trace id, and noted in the audit log without it', async () => {
  expect(await erase({ trace_id: 'run-b', dry_run: false })).toEqual({ calls: 1 });
  await fold();
  expect(await stage.read(`/logs/${idAt(6)}`)).toMatchObject({ flags: ['erased'], trace_id: 'run-b' });
  expect(await verifyRollups(pool)).toEqual([]);
  const { data } = (await stage.read('/audit?action=erasure')) as { data: object[] };
  expect(data[0]).toMatchObject({ action: 'erasure.end', actor_kind: 'process', after: { calls: 1 } });
  expect(JSON.stringify(data)).not.toContain('run-b');
});

async function addAlert(kind: NewAlert['kind'], settings: object = {}): Promise<void> {
  const given = { accountId: 1, name: kind, kind, settings, destinations: [], isOn: true, createdBy: 'me' };
  await insertAlert(pool, given);
  await pool.query("update alerts set created_at = now() - interval '400 days'");
}

/** As if its time had come. */
async function look(nowMs: number): Promise<number> {
  await pool.query('update alerts set checked_at = null');
  const found = await lookAtAlerts({ pool, nowMs: () => nowMs });
  expect((await pool.query('select distinct problem from alerts')).rows).toEqual([{ problem: null }]);
  return found;
}

const tellings = async () =>
  (await pool.query('select subject, title, ended_at is null as lasts from alert_events order by title, subject')).rows;

test('what alerts have told of an erased user is not told again, and says nothing of them', async () => {
  await pool.query('truncate alerts, budgets, budget_spend, brake_hits, jobs cascade');
  await stage.store(endedCall(20, { traceId: null, metadata: [['User', 'eve@example.com']] }));
  const { rows } = await pool.query<{ atMs: number }>(
    `select extract(epoch from requested_at)::float8 * 1000 + 60000 as "atMs" from llm_requests where id = $1`,
    [idAt(20)],
  );
  const nowMs = rows[0]?.atMs ?? 0;
  await addAlert('question', {
    filters: ['metadata.User:eq:eve@example.com'],
    measure: 'calls',
    window_seconds: 3_600,
    threshold: '1',
  });
  await addAlert('budget');
  await addAlert('brake');
  await pool.query(
    `insert into budgets (account_id, id, name, scope, metadata_key, amount, period) overriding system value
     values (1, 701, 'each user', 'metadata', 'User', 1, 'day'), (1, 702, 'each mail', 'metadata', 'Mail', 1, 'day')`,
  );
  await pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     select 1, id, 'eve@example.com', '2026-11-28', 'a', 1, 1 from unnest('{701,702}'::int4[]) id`,
  );
  await pool.query(
    `insert into brake_hits (account_id, id, rule, scope, value, action, reason) overriding system value
     values (1, 703, 'call_rate', 'run', 'chat-eve@example.com-7', 'alarm', '601 calls within a minute')`,
  );
  expect(await look(nowMs)).toBe(4);

  expect(await erase({ metadata_key: 'User', value: 'eve@example.com', dry_run: false })).toEqual({ calls: 1 });
  await pool.query("update erasures set asked_at = '2000-01-01'");
  // Their calls of afterwards: the question still holds, and a node that knew the value spends of it again.
  await stage.store(endedCall(21, { traceId: null, metadata: [['User', 'eve@example.com']] }));
  await pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, 701, 'eve@example.com', '2026-11-28', 'a', 1, 1)`,
  );
  expect(await look(nowMs + 60_000)).toBe(0);
  expect(await tellings()).toEqual([
    { subject: 'budget 701 erased:d0574c4966d2c326 2026-11-28T00:00:00.000Z 80', title: 'erased', lasts: true },
    { subject: 'budget 702 erased:d0574c4966d2c326 2026-11-28T00:00:00.000Z 80', title: 'erased', lasts: true },
    { subject: 'hit 703', title: 'erased', lasts: true },
    { subject: 'question', title: 'erased', lasts: true },
  ]);
  // Old events stay while the sums of their budgets do.
  await pool.query("update alert_events set fired_at = now() - interval '91 days' where subject like 'budget %'");
  await forgetOldEvents(pool);
  expect(await look(nowMs + 60_000)).toBe(0);
  expect(await tellings()).toHaveLength(4);
});

test('a user whose id is a number makes nothing be told again that has this number', async () => {
  await pool.query('truncate alerts, budgets, budget_spend, brake_hits, jobs, llm_cost_hourly cascade');
  await addAlert('jobs');
  await addAlert('unpriced');
  await pool.query(
    `insert into jobs (account_id, id, kind, title, input, phase, unit, state, finished_at) overriding system value
     values (1, 4242, 'none', 'j', '{}', 'p', 'u', 'failed', now() - interval '29 days')`,
  );
  await pool.query(
    `insert into llm_cost_hourly (account_id, facet, hour, value, provider, model, key_id, calls, errors, unpriced_calls,
       total_cost, input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens)
     values (1, '', date_trunc('hour', now()), '', 'openai', 'gpt-4242', 1, 1, 0, 1, 0, 0, 0, 0, 0, 0)`,
  );
  expect(await look(Date.now())).toBe(2);
  await erase({ metadata_key: 'User', value: '4242', dry_run: false });
  expect(await look(Date.now())).toBe(0);
  expect(await tellings()).toEqual([
    { subject: 'job 4242', title: 'erased', lasts: true },
    { subject: 'model openai gpt-4242', title: 'erased', lasts: true },
  ]);
});
