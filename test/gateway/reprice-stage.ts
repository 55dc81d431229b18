/** What the tests of re-pricing share: calls stored as the shipper stores them, declared prices, and jobs run by chunks. */
import type pg from 'pg';
import { expect } from 'vitest';
import type { JobKind } from '../../src/control/jobs/job.ts';
import { readJob } from '../../src/control/jobs/job-store.ts';
import { type JobRunner, runJobs } from '../../src/control/jobs/run-jobs.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { type CurrentPriceBook, createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { createRepriceKind, type RepriceOptions } from '../../src/control/prices/reprice/reprice-job.ts';
import { type RepriceInput, requestRepricing } from '../../src/control/prices/reprice/reprice-request.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { CallBegin, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import type { JsonObject } from '../../src/vocabulary/token-usage.ts';
import { callBegin, callEnd, NOON_MS } from '../support/call-fixtures.ts';
import { openMigrated } from '../support/open-migrated.ts';
import { quietLog } from '../support/quiet-log.ts';
import { waitUntil } from './start-gateway.ts';

export const ACCOUNT_ID = 1;

export interface Stage {
  readonly pool: pg.Pool;
  readonly session: IngestSession;
  readonly prices: CurrentPriceBook;
  readonly close: () => Promise<void>;
}

export async function openStage(connectionString: string): Promise<Stage> {
  const pool = await openMigrated(connectionString, { max: 10 });
  const session = await openIngestSession(pool);
  return {
    pool,
    session,
    prices: createCurrentPriceBook(),
    close: async () => {
      session.close();
      await pool.end();
    },
  };
}

export interface CallSpec {
  readonly number: number;
  readonly begin?: Partial<CallBegin>;
  readonly end?: Partial<CallEnd>;
}

/** Priced as the shipper prices: with the book of the moment. */
export async function storeCalls({ pool, session, prices }: Stage, specs: readonly CallSpec[]): Promise<void> {
  await prices.refresh(pool);
  const entries = specs.map(({ number, begin, end }): SpoolEntry => {
    const requestedAtMs = begin?.requestedAtMs ?? NOON_MS + number;
    return {
      type: 'end',
      begin: callBegin(number, { requestedAtMs, metadata: [], ...begin }),
      end: callEnd(number, { respondedAtMs: requestedAtMs + 1_500, ...end }),
    };
  });
  const { priceCall } = prices.book(1);
  await session.ingest(buildBatch(entries, { process: 'p', priceCall, nowMs: NOON_MS }).items, prices.version());
}

type Client = pg.Pool | pg.ClientBase;

/** As the API does it: in one transaction with the version of the prices. */
async function change(client: Client, sql: string, values: readonly unknown[]): Promise<void> {
  await client.query(`with changed as (${sql} returning 1) update price_book_version set version = version + 1`, [
    ...values,
  ]);
}

export function declarePrice(client: Client, model: string, rates: Readonly<Record<string, string>>): Promise<void> {
  return change(
    client,
    `insert into price_overrides (account_id, provider, match, model, service_tier, rates)
     values (1, 'openai', 'exact', $1, 'any', $2)`,
    [model, JSON.stringify(rates)],
  );
}

export function mapModel(client: Client, model: string, billingModel: string): Promise<void> {
  return change(
    client,
    `insert into price_mappings (account_id, provider, match, model, billing_model) values (1, 'openai', 'exact', $1, $2)`,
    [model, billingModel],
  );
}

export function removeDeclarations(client: Client): Promise<void> {
  return change(client, 'delete from price_overrides', []);
}

export const ALL: RepriceInput = {
  from: null,
  to: null,
  filters: [],
  model: null,
  only: 'all',
  reason: 'as negotiated',
  asked_by: 'admin token',
  dry_run: false,
};

export async function request({ pool }: Stage, input: RepriceInput): Promise<number> {
  const asked = await requestRepricing(pool, ACCOUNT_ID, input);
  if (asked.type !== 'accepted') throw new Error(asked.type);
  return asked.jobId;
}

export interface StageKindOptions extends Omit<RepriceOptions, 'prices'> {
  /** After so many chunks no more: what is left is for the next runner. */
  readonly chunks?: number;
  readonly beforeChunk?: (chunk: number) => Promise<void>;
  /** After a chunk has read its calls, and before it writes anything. */
  readonly beforeWriting?: () => Promise<void>;
}

/** The same connection; the first thing that a chunk does to write is to make its temporary tables. */
function withPause(client: pg.ClientBase, beforeWriting: () => Promise<void>): pg.ClientBase {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const [text] = args;
        const call = (): unknown => Reflect.apply(value, target, args);
        const isFirst = name === 'query' && typeof text === 'string' && text.includes('create temp table');
        return isFirst ? beforeWriting().then(call) : call();
      };
    },
  });
}

export function stageKind({ prices }: Stage, options: StageKindOptions = {}): JobKind {
  const { kind, runChunk } = createRepriceKind({ prices, ...options });
  let chunk = 0;
  return {
    kind,
    runChunk: async (client, job) => {
      chunk += 1;
      await options.beforeChunk?.(chunk);
      const { beforeWriting } = options;
      const own = beforeWriting === undefined ? client : withPause(client, beforeWriting);
      const progress = await runChunk(own, job);
      return { ...progress, pauseMs: chunk < (options.chunks ?? Number.POSITIVE_INFINITY) ? 0 : 3_600_000 };
    },
  };
}

export function startRunner({ pool }: Stage, kind: JobKind): JobRunner {
  return runJobs({ pool, kinds: [kind], log: { ...quietLog(), info: () => {} }, retryMs: 100 });
}

export async function waitForResult({ pool }: Stage, jobId: number): Promise<JsonObject> {
  return waitUntil(`job ${jobId} is done`, async () => {
    const job = await readJob(pool, ACCOUNT_ID, jobId);
    if (job?.state === 'failed') throw new Error(job.error ?? 'failed');
    return job?.state === 'done' ? (job.result ?? undefined) : undefined;
  });
}

/** Asks, runs it to its end, and checks every roll-up. The result without the names of price books. */
export async function reprice(
  stage: Stage,
  input: Partial<RepriceInput> = {},
  options: StageKindOptions = {},
): Promise<{ readonly id: number; readonly result: JsonObject }> {
  const id = await request(stage, { ...ALL, ...input });
  const runner = startRunner(stage, stageKind(stage, options));
  try {
    const { price_versions: _, ...result } = await waitForResult(stage, id);
    await expectSound(stage);
    return { id, result };
  } finally {
    await runner.stop();
  }
}

export async function rowsOf({ pool }: Stage, sql: string): Promise<unknown[]> {
  const { rows } = await pool.query<unknown[]>({ text: sql, rowMode: 'array' });
  return rows;
}

/** Every roll-up equals the aggregate over the records; the first difference says enough. */
export async function expectSound({ pool }: Stage): Promise<void> {
  expect((await verifyRollups(pool))[0]).toBeUndefined();
}
