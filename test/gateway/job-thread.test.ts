/** The thread of the jobs: begun for a job, ended without one, begun anew when it dies, and gone in time at a stop. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readJob } from '../../src/control/jobs/job-store.ts';
import type { JobThreadSettings } from '../../src/control/process/job-thread.ts';
import { type JobThread, runJobThread } from '../../src/control/process/run-job-thread.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { ALL, declarePrice, expectSound, openStage, request, rowsOf, type Stage, storeCalls } from './reprice-stage.ts';
import { waitUntil } from './start-gateway.ts';

const [kind] = POSTGRES_KINDS;
let server: TestPostgres;
let stage: Stage;
let url: string;
let thread: JobThread | null = null;
const logged: string[] = [];

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  server = await startPostgres(kind);
  url = await server.createDatabase('jobs');
  stage = await openStage(url);
});
afterEach(async () => {
  await thread?.stop();
});
afterAll(async () => {
  await stage.close();
  await server.remove();
});

function start(idleMs: number, settings: JobThreadSettings = { databaseUrl: url, keepsTexts: true }): JobThread {
  const say = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  thread = runJobThread({
    pool: stage.pool,
    settings,
    log: { info: say, warn: say, error: say },
    idleMs,
  });
  return thread;
}

function waitForState(id: number, state: string): Promise<true> {
  return waitUntil(`job ${id} is ${state}`, async () =>
    (await readJob(stage.pool, 1, id))?.state === state ? true : undefined,
  );
}

function connectionsOfJobs(pool: pg.Pool): Promise<number> {
  return pool
    .query<{ count: number }>(
      "select count(*) from pg_stat_activity where application_name = 'tollgate jobs' and datname = current_database()",
    )
    .then(({ rows }) => rows[0]?.count ?? 0);
}

test('it begins with the first job and ends when there is none; what it logs comes out of the process', async () => {
  const own = start(0);
  await waitUntil('it looks for jobs', () => (own.countActive() === 0 ? true : undefined));
  expect(own.isRunning()).toBe(false);
  await storeCalls(stage, [{ number: 1, begin: { traceId: 'run' } }, { number: 2 }]);
  await declarePrice(stage.pool, 'gpt-5-2025-08-07', { input: '1', cache_read: '0', output: '5' });
  const id = await request(stage, ALL);
  await waitForState(id, 'done');
  await expectSound(stage);
  expect((await readJob(stage.pool, 1, id))?.result).toMatchObject({ calls: 2, changed: 2, new_cost: '0.000273' });
  await waitUntil('it ends', () => (own.isRunning() ? undefined : true));
  await waitUntil('its connection ends', async () => ((await connectionsOfJobs(stage.pool)) === 0 ? true : undefined));
  expect(logged.filter((line) => line.startsWith('a job is done'))).toHaveLength(1);
  expect(logged.filter((line) => line.includes('thread'))).toEqual([]);
});

test('a chunk that hangs does not hold up a stop, and has not happened', async () => {
  await declarePrice(stage.pool, 'gpt-5', { input: '1' });
  const holder = await stage.pool.connect();
  await holder.query('begin; lock table llm_runs');
  const own = start(60_000);
  await stage.pool.query("delete from price_overrides where model = 'gpt-5-2025-08-07'");
  await stage.pool.query('update price_book_version set version = version + 1');
  const id = await request(stage, ALL);
  await waitUntil('a chunk waits for the runs', async () => {
    const [row] = await rowsOf(
      stage,
      "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'tollgate jobs'",
    );
    return row === undefined ? undefined : true;
  });
  await own.stop();
  expect(own.isRunning()).toBe(false);
  await holder.query('commit');
  holder.release();
  expect((await readJob(stage.pool, 1, id))?.done).toBe(0);
  await expectSound(stage);
  start(60_000);
  await waitForState(id, 'done');
  expect((await readJob(stage.pool, 1, id))?.result).toMatchObject({ calls: 2, changed: 2, old_cost: '0.000273' });
  await expectSound(stage);
});

test('a thread that dies is begun again, each time later', async () => {
  await request(stage, ALL);
  logged.length = 0;
  // Not an address: the thread refuses to begin.
  start(60_000, JSON.parse('{"databaseUrl":7,"keepsTexts":true}'));
  await waitUntil('it died twice', () => (logged.length >= 4 ? true : undefined));
  expect(logged.filter((line) => line.includes('"retryMs"'))).toEqual([
    'the thread of the jobs ended by itself; it is begun again {"retryMs":1000}',
    'the thread of the jobs ended by itself; it is begun again {"retryMs":2000}',
  ]);
});
