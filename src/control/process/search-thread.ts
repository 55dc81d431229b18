/** The thread that indexes the log for search: it reads texts, which must not hold up API and shipper. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { indexNext } from '../search/index-next.ts';
import { describeDatabaseError } from '../store/database-error.ts';
import { openPool } from '../store/pool.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
/** Half a step's time is left to others, the shipper above all. */
const PAUSE_SHARE = 0.5;
const MIN_PAUSE_MS = 20;
const IDLE_PAUSE_MS = 1_000;
/** The thread ends when there was nothing to do for so long. */
const MAX_IDLE_MS = 30_000;

export const SearchThreadSettings = z.object({ databaseUrl: z.string() });
export type SearchThreadSettings = Readonly<z.infer<typeof SearchThreadSettings>>;

const { databaseUrl } = SearchThreadSettings.parse(workerData);
const pool = openPool({
  connectionString: databaseUrl,
  max: 1,
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  applicationName: 'tollgate search',
  // The owner meets the same failure and reports it.
  onIdleError: () => {},
});

let isStopping = false;
parentPort?.once('message', () => {
  isStopping = true;
});

try {
  let lastMs = performance.now();
  while (!isStopping && performance.now() - lastMs < MAX_IDLE_MS) {
    const startedMs = performance.now();
    const step = await indexNext({ pool });
    if (step === 'indexed') lastMs = performance.now();
    await sleep(
      step === 'idle' ? IDLE_PAUSE_MS : Math.max(MIN_PAUSE_MS, (performance.now() - startedMs) * PAUSE_SHARE),
    );
  }
} catch (error) {
  // Without the text of a call, which no message of the database has.
  parentPort?.postMessage(describeDatabaseError(error).slice(0, 200));
}
void pool.end();
parentPort?.close();
