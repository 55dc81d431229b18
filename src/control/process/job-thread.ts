/** The thread of the jobs, which must not hold up API and shipper. It logs through its owner. */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { createEraseKind } from '../erasure/erase-job.ts';
import { type JobLog, runJobs } from '../jobs/run-jobs.ts';
import { createGroupRunsKind } from '../log/group-runs-job.ts';
import { createIndexKind } from '../log/index-job.ts';
import { createVerifyKind } from '../log/verify-job.ts';
import { createDemoteKind } from '../metadata/demote-job.ts';
import { createPromoteKind } from '../metadata/promote-job.ts';
import { createCurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { priceEstimate } from '../prices/estimates/price-estimate.ts';
import { createRepriceKind } from '../prices/reprice/reprice-job.ts';
import { openPool } from '../store/pool.ts';
import { createTextsKind } from '../texts/texts-job.ts';

/** A chunk should take a fraction of a second. */
const STATEMENT_TIMEOUT_MS = 60_000;

export const JobThreadSettings = z.object({
  databaseUrl: z.string(),
  /** What the node was started with. */
  keepsTexts: z.boolean(),
});
export type JobThreadSettings = Readonly<z.infer<typeof JobThreadSettings>>;

export interface JobThreadEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function say(level: JobThreadEntry['level']): JobLog['info'] {
  return (fields, message) => {
    const entry: JobThreadEntry = { level, fields, message };
    parentPort?.postMessage(entry);
  };
}

const { databaseUrl, keepsTexts } = JobThreadSettings.parse(workerData);
const log: JobLog = { info: say('info'), warn: say('warn'), error: say('error') };
const pool = openPool({
  connectionString: databaseUrl,
  max: 1,
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  applicationName: 'tollgate jobs',
  // The owner meets the same failure and reports it.
  onIdleError: () => {},
});
const reprice = createRepriceKind({ prices: createCurrentPriceBook(), priceEstimate });
const kinds = [
  createPromoteKind(),
  createDemoteKind(),
  reprice,
  createVerifyKind(),
  createGroupRunsKind(),
  createIndexKind(),
  createTextsKind(keepsTexts),
  createEraseKind(),
];
const runner = runJobs({ pool, kinds, log });

parentPort?.once('message', async () => {
  await runner.stop();
  // A connection that hangs ends with the thread.
  void pool.end();
  parentPort?.close();
});
