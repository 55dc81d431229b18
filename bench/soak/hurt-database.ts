/** Takes the embedded database of a gateway away for a while, from outside. It does not kill it: see inject-faults.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../test/gateway/start-gateway.ts';
import { listDescendants } from '../proxy/process-figures.ts';
import { readPostmaster, signal } from './gateway-processes.ts';

/** A database that is to be stopped is looked for this often. */
const STOP_INTERVAL_MS = 200;
const HANGING_MS = 3_000;
/** After a kill there is none for a while. */
const WAIT_FOR_POSTMASTER_MS = 180_000;

/** All of its processes stand still for so long. */
export async function suspendDatabase(dataDir: string, forMs: number): Promise<void> {
  const postmaster = await waitUntil(
    'a database to suspend',
    () => readPostmaster(dataDir) ?? undefined,
    WAIT_FOR_POSTMASTER_MS,
  );
  // The postmaster first: it could start another one while its children are stopped.
  signal(postmaster, 'SIGSTOP');
  const all = [postmaster, ...listDescendants(postmaster)];
  try {
    for (const pid of all) signal(pid, 'SIGSTOP');
    await sleep(forMs);
  } finally {
    for (const pid of all.toReversed()) signal(pid, 'SIGCONT');
  }
}

/**
 * Shut down in good order, and so is each one that is started in its place. A PostgreSQL 18 that is told so while it
 * recovers from a crash may hang in its shutdown for ever: such a one is ended at once, as an operator would.
 */
export async function stopDatabase(dataDir: string, forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs;
  const toldMs = new Map<number, number>();
  for (;;) {
    const nowMs = performance.now();
    const postmaster = readPostmaster(dataDir);
    const told = postmaster === null ? undefined : toldMs.get(postmaster);
    if (nowMs >= untilMs && told === undefined) return;
    if (postmaster !== null) {
      signal(postmaster, told !== undefined && nowMs - told > HANGING_MS ? 'SIGQUIT' : 'SIGINT');
      toldMs.set(postmaster, told ?? nowMs);
    }
    await sleep(STOP_INTERVAL_MS);
  }
}
