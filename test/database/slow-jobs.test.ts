/** Jobs on a database that is too slow for a chunk, or loses its connection, or whose jobs another node runs. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { explainWait, isKeptWaiting } from '../../src/control/jobs/explain-wait.ts';
import type { Job, JobKind } from '../../src/control/jobs/job.ts';
import { insertJob, readJob } from '../../src/control/jobs/job-store.ts';
import { runJobs } from '../../src/control/jobs/run-jobs.ts';
import { withAnswerLimit } from '../../src/control/store/answer-limit.ts';
import { inTransaction, openPool, withConnection } from '../../src/control/store/pool.ts';
import { openSingleConnection } from '../../src/control/store/single-connection.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  let url: string;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server?.remove());
  beforeEach(async () => {
    url = await server.createDatabase();
    pool = openTestPool(url);
  });
  afterEach(() => pool.end());

  function insert(): Promise<number> {
    const named = { kind: 'test', subject: 'test', title: 'Test', unit: 'rows', input: {} };
    return inTransaction(pool, (client) => insertJob(client, { accountId: 1, ...named }));
  }

  /** Runs a job whose chunks do `work` as long as they have failed less often, and returns it when it has ended. */
  async function runUntilEnd(work: string, untilFailures: number): Promise<Job | null> {
    const failing: JobKind = {
      kind: 'test',
      runChunk: async (client, { failures }) => {
        if (failures < untilFailures) await client.query(work);
        return { phase: 'done', cursor: {}, done: 1, total: 1, result: { failures } };
      },
    };
    const jobPool = openPool({
      connectionString: url,
      max: 1,
      statementTimeoutMs: 50,
      applicationName: 'tollgate jobs',
      onIdleError: () => {},
    });
    const id = await insert();
    const runner = runJobs({ pool: jobPool, kinds: [failing], log: { ...quietLog(), info: () => {} }, retryMs: 100 });
    for (;;) {
      const job = await readJob(pool, 1, id);
      if (job?.state === 'done' || job?.state === 'failed') {
        await runner.stop();
        await jobPool.end();
        return job;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test('a chunk that takes too long is tried with less and less, more often than one that fails otherwise', async () => {
    expect(await runUntilEnd('select pg_sleep(5)', 4)).toMatchObject({ state: 'done', result: { failures: 4 } });
    expect(await runUntilEnd('select 1 / 0', 4)).toMatchObject({ state: 'failed', failures: 3 });
  });

  test('a connection that breaks under a chunk never ends a job, and the next chunk is told of it', async () => {
    const ended = await runUntilEnd('select pg_terminate_backend(pg_backend_pid())', 4);
    expect(ended).toMatchObject({ state: 'done', result: { failures: 4 } });
  });

  test('an answer may be given more time than its pool gives to others', async () => {
    const hasty = openPool({
      connectionString: url,
      max: 1,
      statementTimeoutMs: 50,
      applicationName: 'test',
      onIdleError: () => {},
    });
    const slept = await withConnection(hasty, async (client) => {
      await client.query('set statement_timeout = 0');
      const { rows } = await withAnswerLimit(client, 20_000).query('select $1 as given from pg_sleep(5.5)', ['slept']);
      return rows;
    });
    expect(slept).toEqual([{ given: 'slept' }]);
    await hasty.end();
  });

  test('a job that nobody comes to says who runs the jobs', async () => {
    const job = await readJob(pool, 1, await insert());
    if (job === null) throw new Error('no job');
    expect(isKeptWaiting(job, job.createdAt.getTime() + 2_000)).toBe(false);
    expect(isKeptWaiting(job, job.createdAt.getTime() + 4_000)).toBe(true);
    expect(await explainWait(pool)).toBe('no node runs jobs at the moment');
    const older = await openSingleConnection({ connectionString: url, applicationName: 'tollgate jobs' });
    await older.query('select pg_advisory_lock(7461005)');
    expect(await explainWait(pool)).toMatch(
      /^process \d+ of the database \("tollgate jobs", connected since \S+Z\) runs the jobs of all nodes and has not come to it: it is busy, or of a release that does not know this kind of job$/,
    );
    await older.end();
  });
});
