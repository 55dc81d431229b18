/**
 * Starts the jobs' thread when there is a job and ends it later, to save an idle gateway's memory. A dead thread is
 * restarted with growing pauses; the job goes on at its cursor.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import { listActiveJobs } from '../jobs/job-store.ts';
import type { JobLog } from '../jobs/run-jobs.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import type { JobThreadEntry, JobThreadSettings } from './job-thread.ts';
import { repeat } from './repeat.ts';

/** The compiled file has another name. */
const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./job-thread.ts', import.meta.url)
  : new URL('./job-thread.js', import.meta.url);

const POLL_MS = 500;
const MAX_ACTIVE = 50;
/** A dry run is mostly followed by the real one. */
const IDLE_MS = 30_000;
const MAX_HEAP_MB = 256;
/** A chunk's data are short-lived: more room would only fill up before a collection. */
const MAX_YOUNG_HEAP_MB = 24;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** A thread that lived so long did not die of its start. */
const SETTLED_MS = 60_000;
/** The chunk and its connection have a second to end. */
const STOP_LIMIT_MS = 1_500;

export interface JobThreadOptions {
  readonly pool: pg.Pool;
  readonly settings: JobThreadSettings;
  readonly log: JobLog;
  readonly idleMs?: number;
}

export interface JobThread {
  readonly isRunning: () => boolean;
  /** The jobs to do, half a second ago; null when unknown. */
  readonly countActive: () => number | null;
  /** Ends after the current chunk; a long one is rolled back. */
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly worker: Worker;
  readonly begunMs: number;
  readonly exited: Promise<unknown>;
}

export function runJobThread({ pool, settings, log, idleMs = IDLE_MS }: JobThreadOptions): JobThread {
  let running: Running | null = null;
  let active: number | null = null;
  let lastJobMs = Number.NEGATIVE_INFINITY;
  let retryMs = MIN_RETRY_MS;
  let notBeforeMs = Number.NEGATIVE_INFINITY;

  function begin(): void {
    const worker = new Worker(THREAD, {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
    });
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    const own: Running = { worker, begunMs: performance.now(), exited };
    running = own;
    worker.on('message', ({ level, fields, message }: JobThreadEntry) => log[level](fields, message));
    worker.on('error', (error) => log.error({ err: error }, 'the thread of the jobs broke'));
    worker.once('exit', () => {
      resolve();
      if (running === own) onDeath(own);
    });
  }

  function onDeath({ begunMs }: Running): void {
    running = null;
    if (performance.now() - begunMs >= SETTLED_MS) retryMs = MIN_RETRY_MS;
    log.warn({ retryMs }, 'the thread of the jobs ended by itself; it is begun again');
    notBeforeMs = performance.now() + retryMs;
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  async function end(): Promise<void> {
    const own = running;
    if (own === null) return;
    running = null;
    own.worker.postMessage('stop');
    const limit = sleep(STOP_LIMIT_MS, 'late' as const, { ref: false });
    if ((await Promise.race([own.exited, limit])) === 'late') await own.worker.terminate();
  }

  const watching = repeat(async () => {
    try {
      active = (await listActiveJobs(pool, MAX_ACTIVE)).length;
      if (active > 0) {
        lastJobMs = performance.now();
        if (running === null && lastJobMs >= notBeforeMs) begin();
      } else if (performance.now() - lastJobMs >= idleMs) {
        await end();
      }
    } catch (error) {
      active = null;
      if (!isDatabaseDown(error)) log.error({ err: error }, 'the jobs could not be looked for');
    }
    return POLL_MS;
  });

  return {
    isRunning: () => running !== null,
    countActive: () => active,
    async stop() {
      await watching.stop();
      await end();
    },
  };
}
