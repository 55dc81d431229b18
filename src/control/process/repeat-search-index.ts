/** Starts the thread that indexes the log for search while there is something to index. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type pg from 'pg';
import type { Logger } from 'pino';
import { hasWork } from '../search/index-next.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';
import type { SearchThreadSettings } from './search-thread.ts';

/** The compiled file has another name. */
const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./search-thread.ts', import.meta.url)
  : new URL('./search-thread.js', import.meta.url);

const POLL_MS = 2_000;
const RETRY_MS = 30_000;
/** Texts of 32 calls, at most half a megabyte each, and what is made of them. */
const MAX_HEAP_MB = 384;
const STOP_LIMIT_MS = 1_000;

export interface SearchIndexOptions {
  readonly pool: pg.Pool;
  readonly settings: SearchThreadSettings;
  readonly log: Logger;
}

export function repeatSearchIndex({ pool, settings, log }: SearchIndexOptions): Repeating {
  let running: { readonly worker: Worker; readonly exited: Promise<unknown> } | null = null;
  let hasFailed = false;

  function begin(): void {
    const worker = new Worker(THREAD, {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    hasFailed = false;
    const fail = (reason: string): void => {
      hasFailed = true;
      log.warn({ reason }, 'the log could not be indexed for search; it is tried again');
    };
    worker.on('message', fail);
    worker.on('error', (error: unknown) => fail(error instanceof Error ? error.name : 'unknown'));
    worker.once('exit', () => {
      running = null;
      resolve();
    });
    running = { worker, exited };
  }

  const repeating = repeatOnDatabase({
    pauseMs: POLL_MS,
    failure: 'calls to index for search could not be looked for',
    log,
    run: async () => {
      if (running !== null || !(await hasWork(pool))) return POLL_MS;
      const pauseMs = hasFailed ? RETRY_MS : POLL_MS;
      begin();
      return pauseMs;
    },
  });

  return {
    async stop() {
      await repeating.stop();
      const own = running;
      if (own === null) return;
      own.worker.postMessage('stop');
      const limit = sleep(STOP_LIMIT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([own.exited, limit])) === 'late') await own.worker.terminate();
    },
  };
}
