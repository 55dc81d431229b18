/** What the tests of metadata share: calls stored as the shipper stores them, and jobs that are run a few chunks at a time. */
import type pg from 'pg';
import { expect } from 'vitest';
import type { JobKind } from '../../src/control/jobs/job.ts';
import { readJob } from '../../src/control/jobs/job-store.ts';
import { type JobRunner, runJobs } from '../../src/control/jobs/run-jobs.ts';
import { listLogs } from '../../src/control/log/list-logs.ts';
import { parseLogFilter } from '../../src/control/log/log-filter.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { createDemoteKind } from '../../src/control/metadata/demote-job.ts';
import { createPromoteKind } from '../../src/control/metadata/promote-job.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import type { IngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { CallBegin, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { quietLog } from '../support/quiet-log.ts';
import { waitUntil } from './start-gateway.ts';

export const ACCOUNT_ID = 1;

export interface CallSpec {
  readonly number: number;
  readonly metadata?: CallBegin['metadata'];
  readonly traceId?: string | null;
  readonly requestedAtMs?: number;
  readonly end?: Partial<CallEnd>;
}

export async function storeCalls(session: IngestSession, specs: readonly CallSpec[]): Promise<number> {
  const entries = specs.map(({ number, metadata, traceId, requestedAtMs, end }): SpoolEntry => {
    const atMs = requestedAtMs ?? NOON_MS + number;
    const begin = callBegin(number, {
      requestedAtMs: atMs,
      traceId: traceId ?? null,
      ...(metadata === undefined ? {} : { metadata }),
    });
    return { type: 'end', begin, end: callEnd(number, { respondedAtMs: atMs + 1_500, ...end }) };
  });
  return session.ingest(buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: NOON_MS }).items);
}

export const KINDS: readonly JobKind[] = [createPromoteKind(), createDemoteKind({ settleMs: 0 })];

/** Small chunks, and after so many of them no more: what is left is for the next runner. */
export function someChunks(chunks: number, maxRows: number, afterChunk?: () => Promise<void>): readonly JobKind[] {
  let left = chunks;
  return [createPromoteKind({ maxRows }), createDemoteKind({ settleMs: 0, maxRows })].map(({ kind, runChunk }) => ({
    kind,
    runChunk: async (client, job) => {
      const progress = await runChunk(client, job);
      left -= 1;
      await afterChunk?.();
      return { ...progress, pauseMs: left > 0 ? 0 : 3_600_000 };
    },
  }));
}

export function startJobs(pool: pg.Pool, kinds = KINDS): JobRunner {
  return runJobs({ pool, kinds, log: { ...quietLog(), info: () => {} }, retryMs: 100 });
}

export function waitForJob(pool: pg.Pool, id: number, state: string): Promise<Record<string, unknown>> {
  return waitUntil(`job ${id} is ${state}`, async () => {
    const job = await readJob(pool, ACCOUNT_ID, id);
    return job?.state === state ? { ...job } : undefined;
  });
}

/** Runs this many chunks and stops; the job is in the middle then. */
export async function runChunks(pool: pg.Pool, id: number, chunks: number, maxRows: number): Promise<void> {
  let done = 0;
  const runner = startJobs(
    pool,
    someChunks(chunks, maxRows, async () => {
      done += 1;
    }),
  );
  await waitUntil(`${chunks} chunks`, () => (done >= chunks ? true : undefined));
  await waitForJob(pool, id, 'running');
  await runner.stop();
}

/** The numbers of the calls that a filter finds, in order. */
export async function find(pool: pg.Pool, ...filters: readonly string[]): Promise<number[]> {
  const page = await listLogs(
    pool,
    {
      accountId: ACCOUNT_ID,
      filters: filters.map(parseLogFilter),
      from: null,
      to: null,
      excludeRuns: false,
      search: null,
      sort: 'requested_at',
      columns: ['id'],
    },
    null,
    10_000,
  );
  expect(page.next).toBeNull();
  return page.records.map((record) => Number.parseInt(String(record['id']).slice(-12), 16)).sort((a, b) => a - b);
}

export async function readKeyState(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ state: string }>('select state from metadata_keys');
  return rows[0]?.state ?? null;
}

export async function countIndexed(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ calls: number }>(
    "select count(*) as calls from llm_requests where indexed_metadata <> '{}'",
  );
  return rows[0]?.calls ?? 0;
}

/** Every roll-up and every promoted key equals the count over the records; the first difference says enough. */
export async function expectSound(pool: pg.Pool): Promise<void> {
  expect((await verifyRollups(pool))[0]).toBeUndefined();
}
