/**
 * The thread in which jobs run, so that pricing a million calls holds up neither the API nor the shipper. It has its own
 * connection and its own price book; what it has to say goes to the process's log through the thread that began it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { type JobLog, runJobs } from '../jobs/run-jobs.ts';
import { createCurrentPriceBook } from '../prices/current-price-book.ts';
import { openPool } from '../store/pool.ts';
import { createJobKinds } from './job-kinds.ts';

/** A chunk of a job is meant to take a fraction of a second. */
const STATEMENT_TIMEOUT_MS = 60_000;

export const JobThreadSettings = z.object({ databaseUrl: z.string(), accountId: z.number().int() });
export type JobThreadSettings = Readonly<z.infer<typeof JobThreadSettings>>;

/** What it says. Errors among the fields come over as errors with their stack. */
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

const { databaseUrl, accountId } = JobThreadSettings.parse(workerData);
const log: JobLog = { info: say('info'), warn: say('warn'), error: say('error') };
const pool = openPool({
  connectionString: databaseUrl,
  max: 1,
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  applicationName: 'tollgate jobs',
  // Its owner meets the same at its next question, and says so.
  onIdleError: () => {},
});
const runner = runJobs({ pool, kinds: createJobKinds(createCurrentPriceBook(accountId)), log });

// It is told one thing only: to stop.
parentPort?.once('message', async () => {
  await runner.stop();
  // Nothing else is under way; a connection that hangs goes with the thread.
  void pool.end();
  parentPort?.close();
});
