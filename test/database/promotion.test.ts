/** Promotion and demotion beside a shipper that stores one of their calls anew in the middle of a chunk. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job, JobKind } from '../../src/control/jobs/job.ts';
import { foldRollups, HOURLY_TABLES } from '../../src/control/log/fold-rollups.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { createDemoteKind } from '../../src/control/metadata/demote-job.ts';
import { DEMOTE_KIND, PROMOTE_KIND } from '../../src/control/metadata/key-store.ts';
import { createPromoteKind } from '../../src/control/metadata/promote-job.ts';
import { buildBatch, makeInterruptedItem } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const CONTEXT = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
const begin = callBegin(1, { metadata: [['Feature', 'search']] });
const interrupted = makeInterruptedItem(begin, null, CONTEXT);
const { items: ended } = buildBatch([{ type: 'end', begin, end: callEnd(1) }], CONTEXT);

describe.each(POSTGRES_KINDS)('promotion on $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let session: IngestSession;
  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('promotion'));
    session = await openIngestSession(pool);
  }, 60_000);
  afterAll(async () => {
    session.close();
    await pool.end();
    await server.remove();
  });

  /** Runs the job's chunks to its end. `onStaged` runs between the reading of calls and their change. */
  async function run(job: Job, { runChunk }: JobKind, onStaged: () => Promise<unknown>): Promise<void> {
    let cursor: Job['cursor'] = null;
    for (let isOver = false; !isOver; ) {
      const progress = await inTransaction(pool, (client) => {
        const interrupting = new Proxy(client, {
          get: (target, name) => {
            if (name !== 'query') return Reflect.get(target, name);
            return async (text: string, values?: unknown[]) => {
              if (text.startsWith('analyze')) await onStaged();
              return target.query(text, values);
            };
          },
        });
        return runChunk(interrupting, { ...job, cursor });
      });
      cursor = progress.cursor;
      isOver = progress.result !== null;
    }
  }

  async function makeJob(state: 'promoting' | 'demoting', input: Job['input']): Promise<Job> {
    const { rows } = await pool.query<{ id: number }>(
      `insert into jobs (account_id, kind, subject, title, input, phase, unit, state)
       values (1, $1, 'feature', 'Feature', $2, 'queued', 'calls', 'done') returning id`,
      [state === 'promoting' ? PROMOTE_KIND : DEMOTE_KIND, input],
    );
    const id = rows[0]?.id ?? 0;
    await pool.query(
      `insert into metadata_keys (account_id, key_lower, display_key, state, job_id) values (1, 'feature', 'Feature', $1, $2)
       on conflict (account_id, key_lower) do update set state = excluded.state, job_id = excluded.job_id`,
      [state, id],
    );
    return { id, accountId: 1, input, failures: 0, total: null } as Job;
  }

  async function expectSums(calls: number): Promise<void> {
    await foldRollups(pool);
    expect(await verifyRollups(pool)).toEqual([]);
    const { rows } = await pool.query(
      "select coalesce(sum(calls), 0)::int4 as calls from llm_cost_hourly where facet = 'metadata.Feature' and value <> ''",
    );
    expect(rows).toEqual([{ calls }]);
  }

  test('a call that ends in the middle of a chunk is counted once under its key, and taken out once', async () => {
    await session.ingest([interrupted]);
    await run(await makeJob('promoting', { key: 'feature' }), createPromoteKind(), () => session.ingest(ended));
    await expectSums(1);
    await pool.query(`truncate llm_requests, llm_runs, ${HOURLY_TABLES.join(', ')}`);
    await session.ingest([interrupted]);
    await run(
      await makeJob('demoting', { key: 'feature', was_promoted: true }),
      createDemoteKind({ settleMs: 0 }),
      () => session.ingest(ended),
    );
    await expectSums(0);
  });
});
