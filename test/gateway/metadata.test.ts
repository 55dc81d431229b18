/** Metadata keys in real databases: their value in a call, promotion and demotion beside the shipper, and the jobs that do it. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobKind } from '../../src/control/jobs/job.ts';
import { cancelJob, insertJob, readJob, resumeJob } from '../../src/control/jobs/job-store.ts';
import type { JobRunner } from '../../src/control/jobs/run-jobs.ts';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { type KeyChange, requestDemotion, requestPromotion } from '../../src/control/metadata/key-store.ts';
import { listMetadataKeys } from '../../src/control/metadata/list-keys.ts';
import { makeInterruptedItem } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { callBegin, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { MIGRATIONS, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';
import {
  ACCOUNT_ID,
  type CallSpec,
  countIndexed,
  expectSound,
  find,
  KINDS,
  readKeyState,
  runChunks,
  startJobs,
  storeCalls,
  waitForJob,
} from './metadata-stage.ts';
import { waitUntil } from './start-gateway.ts';

const DAY_MS = 86_400_000;
const SPELLINGS = ['Feature', 'feature', 'FEATURE'] as const;

describe.each(POSTGRES_KINDS)('metadata keys in $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let session: IngestSession;
  let databases = 0;
  const runners: JobRunner[] = [];
  /** What a test that failed would leave locked. */
  const releases: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    databases += 1;
    pool = openTestPool(await server.createDatabase(`test_${databases}`), { max: 10 });
    session = await openIngestSession(pool);
    return async () => {
      for (const release of releases.splice(0)) await release();
      for (const runner of runners.splice(0)) await runner.stop();
      session.close();
      await pool.end();
    };
  });

  function start(kinds?: readonly JobKind[]): JobRunner {
    const runner = startJobs(pool, kinds);
    runners.push(runner);
    return runner;
  }

  function jobOf(change: KeyChange): number {
    if (change.type !== 'accepted') throw new Error(change.reason);
    return change.jobId;
  }

  async function promote(key = 'Feature'): Promise<number> {
    return jobOf(await requestPromotion(pool, ACCOUNT_ID, key, null));
  }

  async function demote(key = 'Feature'): Promise<number> {
    return jobOf(await requestDemotion(pool, ACCOUNT_ID, key));
  }

  async function values(sql: string): Promise<unknown[]> {
    const { rows } = await pool.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows.map((row) => (row.length === 1 ? row[0] : row));
  }

  /** Calls of ten runs over three days: the key in three spellings with seven values, in two of three of them. */
  function specs(first: number, count: number): CallSpec[] {
    return Array.from({ length: count }, (_, index) => {
      const number = first + index;
      const spelling = SPELLINGS[number % 3] ?? 'Feature';
      return {
        number,
        traceId: number % 4 === 0 ? null : `run ${number % 10}`,
        requestedAtMs: NOON_MS - (number % 3) * DAY_MS + number,
        metadata:
          number % 5 < 2
            ? [['User-Id', `u${number}`]]
            : [
                [spelling, `f${number % 7}`],
                ['User-Id', `u${number}`],
              ],
      };
    });
  }

  test('the value of a key is found in any case; several spellings are joined in the order of their bytes', async () => {
    const value = (raw: unknown, key: string) =>
      values(`select metadata_value('${JSON.stringify(raw)}'::jsonb, '${key}')`).then(([found]) => found);
    expect(await value({ Feature: 'search' }, 'feature')).toBe('search');
    expect(await value({ feature: 'search' }, 'FEATURE')).toBe('search');
    expect(await value({ feature: 'b', FEATURE: 'a', Feature: '' }, 'feature')).toBe('a, , b');
    expect(await value({ 'Feature-Flag': 'x' }, 'feature')).toBeNull();
    expect(await value({ Other: 'the text "feature" in a value' }, 'feature')).toBeNull();
    expect(await value({ 'a"b\\c': 'x' }, 'A"B\\C')).toBe('x');
    expect(await value({ Feature: 'null' }, 'feature')).toBe('null');
    expect(await value({}, 'feature')).toBeNull();
  });

  test('calls are counted by hour and key as received, also when an interrupted call gets its real ending', async () => {
    const begin = callBegin(1, { metadata: [['Feature', 'a']] });
    await session.ingest([makeInterruptedItem(begin, null, { process: 'p', priceCall: priceByToken, nowMs: NOON_MS })]);
    await storeCalls(session, [{ number: 1 }, { number: 2, metadata: [['feature', 'b']] }, { number: 2 }]);
    await storeCalls(session, [{ number: 3, metadata: [], requestedAtMs: NOON_MS + 3_600_000 }]);
    await expectSound(pool);
    await foldRollups(pool);
    expect(
      await values(
        `select to_char(hour at time zone 'UTC', 'HH24'), key, calls from llm_metadata_hourly order by hour, key collate "C"`,
      ),
    ).toEqual([
      ['12', '', 2],
      ['12', 'Feature', 2],
      ['13', '', 1],
    ]);
    await expectSound(pool);
  });

  test('a client that makes up keys fills an hour with 2,000 of them and no more', async () => {
    const makeUp = (first: number): CallSpec[] =>
      Array.from({ length: 40 }, (_, index) => ({
        number: first + index,
        metadata: Array.from({ length: 60 }, (_, key): [string, string] => [`K-${(first + index) * 60 + key}`, 'x']),
      }));
    await storeCalls(session, makeUp(1));
    await foldRollups(pool);
    await storeCalls(session, [
      {
        number: 5_000,
        metadata: [
          ['Late', 'x'],
          ['K-100', 'x'],
        ],
      },
    ]);
    await foldRollups(pool);
    expect(await values('select count(*) from llm_metadata_hourly')).toEqual([2_000]);
    expect(
      await values(`select key, calls from llm_metadata_hourly where key in ('', 'Late', 'K-100') order by 1`),
    ).toEqual([
      ['', 41],
      ['K-100', 2],
    ]);
    await expectSound(pool);
  });

  test('of a log that was there before, the migration counts the keys', async () => {
    await storeCalls(session, specs(1, 60));
    await foldRollups(pool);
    const before = await values('select account_id, hour, key, calls from llm_metadata_hourly order by 1, 2, 3');
    const old = openTestPool(await server.createEmptyDatabase(`test_${databases}_old`));
    releases.push(() => old.end());
    const firstTwo = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'));
    for (const name of ['0001_first_schema.sql', '0002_retention.sql'])
      copyFileSync(join(MIGRATIONS, name), join(firstTwo, name));
    await migrate(old, firstTwo);
    rmSync(firstTwo, { recursive: true });
    for (const day of [26, 27, 28])
      await old.query(
        `create table llm_requests_p202611${day} partition of llm_requests
         for values from ('2026-11-${day} 00:00:00+00') to ('2026-11-${day + 1} 00:00:00+00')`,
      );
    for (const table of ['llm_requests', 'llm_runs', 'llm_run_facets']) {
      const [rows] = await values(`select jsonb_agg(to_jsonb(t))::text from ${table} t`);
      await old.query(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`, [rows]);
    }
    await migrate(old, MIGRATIONS);
    const { rows: counted } = await old.query<unknown[]>({
      text: 'select account_id, hour, key, calls from llm_metadata_hourly order by 1, 2, 3',
      rowMode: 'array',
    });
    expect(counted).toEqual(before);
    await expectSound(old);
  });

  test('a promoted key stands in old and new calls under one spelling', async () => {
    await storeCalls(session, [
      { number: 1, traceId: 'a', metadata: [['Feature', 'search']] },
      { number: 2, traceId: 'a', metadata: [['feature', 'search']] },
      { number: 3, traceId: 'a', metadata: [['FEATURE', 'x'.repeat(300)]] },
      { number: 4, traceId: 'a', metadata: [['Other', 'search']] },
    ]);
    const job = await promote('Feature');
    expect(await readKeyState(pool)).toBe('promoting');
    await storeCalls(session, [{ number: 5, traceId: 'b', metadata: [['feature', 'new']] }]);
    await expectSound(pool);
    start();
    expect(await waitForJob(pool, job, 'done')).toMatchObject({ done: 4, total: 4, result: { read: 5, changed: 3 } });
    expect(await readKeyState(pool)).toBe('promoted');
    expect(await values(`select indexed_metadata from llm_requests order by id`)).toEqual([
      { Feature: 'search' },
      { Feature: 'search' },
      { Feature: 'x'.repeat(300) },
      {},
      { Feature: 'new' },
    ]);
    await expectSound(pool);
  });

  test('promotion while three shippers store and replay calls misses none', async () => {
    for (let first = 1; first <= 2_001; first += 500) await storeCalls(session, specs(first, 500));
    const shippers = [session, await openIngestSession(pool), await openIngestSession(pool)];
    let isOver = false;
    const shipping = shippers.map(async (one, index) => {
      for (let round = 0; !isOver && round < 60; round += 1)
        await storeCalls(one, specs(3_000 + index * 300 + round * 40, 120));
    });
    const job = await promote();
    start();
    const done = await waitForJob(pool, job, 'done');
    isOver = true;
    await Promise.all(shipping);
    for (const one of shippers.slice(1)) one.close();
    expect(Number(done['done'])).toBeGreaterThanOrEqual(1_500);
    const [counted] = await values(
      `select count(*) from llm_requests where metadata_value(raw_metadata, 'feature') is not null`,
    );
    expect(await countIndexed(pool)).toBe(counted);
    await expectSound(pool);
  });

  test('the barrier waits for a batch that began before the promotion, and the walk finds its call', async () => {
    await storeCalls(session, [{ number: 1, metadata: [['Feature', 'a']] }]);
    // In the way of the roll-up: the batch hangs in the middle of its statement, which has read the promoted keys.
    const other = await pool.connect();
    await other.query(`begin; insert into llm_runs select 1, 'run', 1, 0, 0, 0, 0, 0, 0, 0, 0, now(), now()`);
    const release = async () => {
      await other.query('rollback');
      other.release();
    };
    releases.push(release);
    const batch = storeCalls(session, [{ number: 2, traceId: 'run', metadata: [['feature', 'b']] }]);
    await waitUntil('the batch hangs', async () => {
      const [waiting] = await values("select count(*) from pg_stat_activity where wait_event_type = 'Lock'");
      return waiting === 1 ? true : undefined;
    });
    const job = await promote();
    start();
    await waitUntil('the job waits for the batch', async () => {
      const waiting = await readJob(pool, ACCOUNT_ID, job);
      return waiting?.error?.startsWith('55P03') ? true : undefined;
    });
    expect(await readJob(pool, ACCOUNT_ID, job)).toMatchObject({ state: 'queued', failures: 0, cursor: null });
    releases.length = 0;
    await release();
    expect(await batch).toBe(1);
    await waitForJob(pool, job, 'done');
    expect(await values('select indexed_metadata from llm_requests order by id')).toEqual([
      { Feature: 'a' },
      { Feature: 'b' },
    ]);
    await expectSound(pool);
  });

  test('filters answer the same before, during and after promotion, and during and after demotion', async () => {
    await storeCalls(session, specs(1, 600));
    await storeCalls(session, [
      {
        number: 601,
        metadata: [
          ['feature', 'f1'],
          ['Feature', 'f2'],
        ],
      },
      { number: 602, metadata: [['Feature', 'it"s \\ 50%, ö']] },
    ]);
    const filters = [
      'metadata.Feature:eq:f1',
      'metadata.feature:eq:f1',
      'metadata.FEATURE:in:f1,f3',
      'metadata.Feature:ne:f1',
      'metadata.Feature:nin:f1,f3',
      'metadata.Feature:prefix:f',
      'metadata.Feature:contains:3',
      'metadata.Feature:gt:f4',
      'metadata.Feature:has',
      'metadata.Feature:nohas',
      'metadata.Feature:eq:f2%2C f1',
      'metadata.Feature:eq:it"s \\ 50%25%2C ö',
    ];
    const answers = () => Promise.all(filters.map((filter) => find(pool, filter)));
    const before = await answers();
    expect(before.map((found) => found.length > 0)).toEqual(filters.map(() => true));
    expect(before[10]).toEqual([601]);
    expect(before[11]).toEqual([602]);
    const job = await promote();
    await runChunks(pool, job, 3, 150);
    expect(await countIndexed(pool)).toBeGreaterThan(0);
    expect(await readKeyState(pool)).toBe('promoting');
    expect(await answers()).toEqual(before);
    await expectSound(pool);
    const runner = start();
    await waitForJob(pool, job, 'done');
    expect(await answers()).toEqual(before);
    await expectSound(pool);
    await runner.stop();
    const undoing = await demote();
    await runChunks(pool, undoing, 4, 150);
    expect(await readKeyState(pool)).toBe('demoting');
    expect(await answers()).toEqual(before);
    await expectSound(pool);
    start();
    await waitForJob(pool, undoing, 'done');
    expect(await answers()).toEqual(before);
    expect([await countIndexed(pool), await readKeyState(pool)]).toEqual([0, null]);
    await expectSound(pool);
  });

  test('a filter on a promoted key is answered by the index', async () => {
    await storeCalls(session, specs(1, 400));
    const job = await promote();
    start();
    await waitForJob(pool, job, 'done');
    const client = await pool.connect();
    await client.query('set enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select id from llm_requests where indexed_metadata @> '{"Feature":"f1"}'::jsonb or indexed_metadata @> '{"Feature":"f2"}'::jsonb`,
    );
    client.release();
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('indexed_metadata_idx');
  });

  test('after every chunk of a demotion the roll-ups are exact, with runs that cross the chunks', async () => {
    // Of each run a call that began first answered last: what is left of it is not what came last.
    const calls = specs(1, 500).map((spec): CallSpec => {
      const slow = spec.number < 20 ? { respondedAtMs: NOON_MS + 9_000_000 - spec.number } : {};
      return { ...spec, end: slow };
    });
    await storeCalls(session, calls);
    const job = await promote();
    const runner = start();
    await waitForJob(pool, job, 'done');
    await runner.stop();
    const undoing = await demote();
    for (let chunks = 0; chunks < 5; chunks += 1) {
      await runChunks(pool, undoing, chunks === 0 ? 3 : 1, 80);
      await expectSound(pool);
    }
    expect(await countIndexed(pool)).toBeGreaterThan(0);
    // What does not have the key is read and not written.
    start();
    expect(await waitForJob(pool, undoing, 'done')).toMatchObject({ done: 300, total: 300, result: { changed: 300 } });
    await expectSound(pool);
  });

  test('a job whose connection is cut in the middle of a chunk goes on from the chunk before, by itself', async () => {
    await storeCalls(session, specs(1, 500));
    const job = await promote();
    await runChunks(pool, job, 3, 100);
    const before = await readJob(pool, ACCOUNT_ID, job);
    const indexed = await countIndexed(pool);
    let isHanging = false;
    const [promotion] = KINDS;
    const dying = start([
      {
        kind: 'promote_metadata',
        runChunk: async (client, one) => {
          const progress = await promotion?.runChunk(client, one);
          isHanging = true;
          await client.query('select pg_sleep(60)');
          if (progress === undefined) throw new Error('no progress');
          return progress;
        },
      },
    ]);
    await waitUntil('the chunk is done but for its end', () => (isHanging ? true : undefined));
    await pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep%' and pid <> pg_backend_pid() and datname = current_database()",
    );
    await dying.stop();
    expect(await readJob(pool, ACCOUNT_ID, job)).toMatchObject({ cursor: before?.cursor, done: before?.done });
    expect(await countIndexed(pool)).toBe(indexed);
    start();
    expect(await waitForJob(pool, job, 'done')).toMatchObject({
      done: 300,
      total: 300,
      result: { read: 500, changed: 300 },
    });
    await expectSound(pool);
  });

  test('a cancelled promotion keeps what it has done, and goes on when it is asked for again', async () => {
    await storeCalls(session, specs(1, 500));
    const job = await promote();
    await runChunks(pool, job, 3, 100);
    expect(await inTransaction(pool, (client) => cancelJob(client, ACCOUNT_ID, job))).toMatchObject({
      state: 'cancelled',
    });
    const indexed = await countIndexed(pool);
    expect(indexed).toBeGreaterThan(0);
    const runner = start();
    await storeCalls(session, [{ number: 1_000, traceId: 'run 1', metadata: [['feature', 'meanwhile']] }]);
    expect(await countIndexed(pool)).toBe(indexed + 1);
    await expectSound(pool);
    expect(await promote('feature')).toBe(job);
    await waitForJob(pool, job, 'done');
    expect(await countIndexed(pool)).toBe(301);
    expect(await values('select display_key from metadata_keys')).toEqual(['Feature']);
    await expectSound(pool);
    await runner.stop();
  });

  test('a promotion that was cancelled can be undone, and one that is asked for during the undoing takes over', async () => {
    await storeCalls(session, specs(1, 500));
    const first = await promote();
    await runChunks(pool, first, 4, 100);
    expect(await requestDemotion(pool, ACCOUNT_ID, 'feature')).toEqual({ type: 'refused', reason: 'busy' });
    await inTransaction(pool, (client) => cancelJob(client, ACCOUNT_ID, first));
    const undoing = await demote('FEATURE');
    expect(await demote()).toBe(undoing);
    await runChunks(pool, undoing, 3, 100);
    const second = await promote();
    expect(second).not.toBe(first);
    expect(await readJob(pool, ACCOUNT_ID, undoing)).toMatchObject({ state: 'cancelled' });
    expect(await inTransaction(pool, (client) => resumeJob(client, ACCOUNT_ID, undoing))).toBe('superseded');
    start();
    await waitForJob(pool, second, 'done');
    expect(await countIndexed(pool)).toBe(300);
    expect(await requestPromotion(pool, ACCOUNT_ID, 'Feature', 'FEATURE')).toEqual({
      type: 'refused',
      reason: 'other_spelling',
    });
    expect(await requestPromotion(pool, ACCOUNT_ID, 'Feature', null)).toEqual({
      type: 'refused',
      reason: 'already_promoted',
    });
    await expectSound(pool);
  });

  test('demotion waits for the questions that took the key for promoted', async () => {
    await storeCalls(session, specs(1, 50));
    const job = await promote();
    const runner = start();
    await waitForJob(pool, job, 'done');
    await runner.stop();
    const undoing = await demote();
    expect(await find(pool, 'metadata.Feature:eq:f1')).not.toEqual([]);
    const { createDemoteKind } = await import('../../src/control/metadata/demote-job.ts');
    const waiting = start([createDemoteKind({ settleMs: 3_600_000 })]);
    await waitUntil('it waits', async () => {
      const now = await readJob(pool, ACCOUNT_ID, undoing);
      return now?.phase === 'waiting for questions under way' ? true : undefined;
    });
    expect(await countIndexed(pool)).toBe(30);
    await waiting.stop();
  });

  test('an interrupted call that was stored before the promotion gives way to its real ending during it', async () => {
    const item = (number: number) =>
      makeInterruptedItem(callBegin(number, { traceId: 'run', metadata: [['feature', 'x']] }), null, {
        process: 'p',
        priceCall: priceByToken,
        nowMs: NOON_MS,
      });
    await session.ingest([item(1), item(2)]);
    const job = await promote();
    await storeCalls(session, [{ number: 1, traceId: 'run', metadata: [['feature', 'x']] }]);
    await expectSound(pool);
    start();
    await waitForJob(pool, job, 'done');
    await storeCalls(session, [{ number: 2, traceId: 'run', metadata: [['feature', 'x']] }]);
    expect(await values('select outcome, indexed_metadata from llm_requests')).toEqual([
      ['ok', { Feature: 'x' }],
      ['ok', { Feature: 'x' }],
    ]);
    await expectSound(pool);
  });

  test('retention takes the hours of a day and the facets of its runs with it, also in the middle of a promotion', async () => {
    await storeCalls(session, specs(1, 300));
    const job = await promote();
    await runChunks(pool, job, 3, 80);
    const nowMs = NOON_MS + 9 * DAY_MS;
    const { dropped } = await sweepAt(nowMs, { pool, limits: { rowsDays: 10, bodiesDays: 10 } });
    expect(dropped).toContain('llm_requests_p20261126');
    expect(await values("select count(*) from llm_metadata_hours where hour < '2026-11-27'")).toEqual([0]);
    await expectSound(pool);
    const runner = start();
    await waitForJob(pool, job, 'done');
    await expectSound(pool);
    await runner.stop();
    await sweepAt(nowMs + DAY_MS, { pool, limits: { rowsDays: 10, bodiesDays: 10 } });
    await expectSound(pool);
    const undoing = await demote();
    start();
    await waitForJob(pool, undoing, 'done');
    expect(await values("select count(*) from llm_run_facets where facet like 'metadata.%'")).toEqual([0]);
    await expectSound(pool);
  });

  /** What a key that is wrong in a call is wrong against: itself, and the costs by hour that are made of it. */
  const readDifferent = async () => [...new Set((await verifyRollups(pool)).map(({ rollup }) => rollup))].sort();

  test('verify finds a promoted key that is missing in a call, one with another value, and a wrong count', async () => {
    await storeCalls(session, specs(1, 10));
    const job = await promote();
    start();
    await waitForJob(pool, job, 'done');
    await pool.query(
      `update llm_requests set indexed_metadata = '{}' where id = (select id from llm_requests where indexed_metadata <> '{}' and trace_id is null limit 1)`,
    );
    expect(await readDifferent()).toEqual(['indexed_metadata', 'llm_cost_hourly']);
    await pool.query(
      `update llm_requests set indexed_metadata = '{"Feature":"wrong"}' where indexed_metadata = '{}' and raw_metadata ?| array['Feature','feature','FEATURE']`,
    );
    expect(await readDifferent()).toEqual(['indexed_metadata', 'llm_cost_hourly']);
    await pool.query(`update llm_metadata_deltas set calls = calls + 1 where key = ''`);
    expect((await verifyRollups(pool)).filter(({ rollup }) => rollup === 'llm_metadata_hourly').length).toBe(6);
  });

  test('the list of keys has exact counts, all spellings, the values of the latest calls, and warnings', async () => {
    const many = Array.from(
      { length: 60 },
      (_, index): CallSpec => ({
        number: index + 1,
        metadata: [
          [index % 2 === 0 ? 'feature' : 'Feature', index < 40 ? 'search' : 'chat'],
          ['Request-Id', `r${index}`],
          ['Mail', `user${index % 3}@example.com`],
        ],
      }),
    );
    await storeCalls(session, [...many, { number: 99, metadata: [], requestedAtMs: NOON_MS - DAY_MS }]);
    const { keys, totalCalls, sampledCalls } = await listMetadataKeys(
      pool,
      ACCOUNT_ID,
      new Date(NOON_MS - DAY_MS),
      new Date(NOON_MS + 1_000),
    );
    expect([totalCalls, sampledCalls, keys.map(({ key }) => key)]).toEqual([61, 61, ['Feature', 'Mail', 'Request-Id']]);
    expect(keys[0]).toEqual({
      key: 'Feature',
      spellings: [
        { spelling: 'Feature', calls: 30 },
        { spelling: 'feature', calls: 30 },
      ],
      calls: 60,
      share: 60 / 61,
      distinctValues: 2,
      examples: [
        { value: 'search', calls: 40 },
        { value: 'chat', calls: 20 },
      ],
      firstSeen: new Date(NOON_MS),
      lastSeen: new Date(NOON_MS + 60),
      averageLength: 5,
      state: 'raw',
      promotedAt: null,
      jobId: null,
      isWide: false,
      warnings: ['two_spellings'],
    });
    await pool.query("insert into llm_wide_facets (account_id, facet) values ($1, 'metadata.request-id')", [
      ACCOUNT_ID,
    ]);
    const again = await listMetadataKeys(pool, ACCOUNT_ID, new Date(NOON_MS - DAY_MS), new Date(NOON_MS + 1_000));
    expect(again.keys.map(({ isWide }) => isWide)).toEqual([false, false, true]);
    await pool.query('delete from llm_wide_facets');
    expect(keys[1]).toMatchObject({ distinctValues: 3, warnings: ['looks_personal'] });
    expect(keys[2]).toMatchObject({ distinctValues: 60, warnings: ['unique_per_call'] });
    const none = await listMetadataKeys(pool, ACCOUNT_ID, new Date(NOON_MS + DAY_MS), new Date(NOON_MS + 2 * DAY_MS));
    expect(none).toEqual({ keys: [], totalCalls: 0, sampledCalls: 0 });
  });

  describe('jobs', () => {
    const newJob = (subject: string | null) =>
      inTransaction(pool, (client) =>
        insertJob(client, { accountId: ACCOUNT_ID, kind: 'test', subject, title: 'Test', unit: 'steps', input: {} }),
      );

    test('a chunk that fails three times ends the job; resumed it goes on where it was', async () => {
      await pool.query('create table steps (step int4)');
      let isBroken = true;
      const kindOfSteps: JobKind = {
        kind: 'test',
        runChunk: async (client, job) => {
          const step = job.done + 1;
          await client.query('insert into steps values ($1)', [step]);
          if (step === 3 && isBroken) await client.query('select 1 / 0');
          const result = step === 5 ? { steps: step } : null;
          return { phase: 'stepping', cursor: { step }, done: step, total: 5, result, pauseMs: 0 };
        },
      };
      const id = await newJob('one');
      await expect(newJob('one')).rejects.toThrow('jobs_account_id_subject_idx');
      start([kindOfSteps]);
      expect(await waitForJob(pool, id, 'failed')).toMatchObject({ done: 2, error: '22012: division by zero' });
      expect(await values('select step from steps order by 1')).toEqual([1, 2]);
      isBroken = false;
      expect(await inTransaction(pool, (client) => resumeJob(client, ACCOUNT_ID, id))).toBe('resumed');
      expect(await waitForJob(pool, id, 'done')).toMatchObject({ done: 5, error: null, result: { steps: 5 } });
      expect(await values('select step from steps order by 1')).toEqual([1, 2, 3, 4, 5]);
      expect(await inTransaction(pool, (client) => resumeJob(client, ACCOUNT_ID, id))).toBe('not_stopped');
      expect(await inTransaction(pool, (client) => resumeJob(client, ACCOUNT_ID, 999))).toBe('not_found');
    });

    test('of two runners one works, and when it ends the other goes on', async () => {
      const workers: string[] = [];
      const kindOf = (name: string): JobKind => ({
        kind: 'test',
        runChunk: async (_client, job) => {
          workers.push(name);
          const result = name === 'second' ? {} : null;
          return { phase: name, cursor: {}, done: job.done + 1, total: null, result, pauseMs: 10 };
        },
      });
      const id = await newJob(null);
      const first = start([kindOf('first')]);
      await waitUntil('the first works', () => (workers.length > 3 ? true : undefined));
      start([kindOf('second')]);
      await waitUntil('it goes on', () => (workers.length > 20 ? true : undefined));
      expect(new Set(workers)).toEqual(new Set(['first']));
      await first.stop();
      await waitForJob(pool, id, 'done');
      expect(workers.at(-1)).toBe('second');
    });
  });
});
