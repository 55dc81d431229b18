/**
 * Gives back to the system what a process no longer uses. V8 keeps the room that its young objects once took, up to 48 MB
 * after a start, until it is told that memory is short.
 */
import { Session } from 'node:inspector';
import { getHeapSpaceStatistics } from 'node:v8';

const FIRST_LOOK_MS = 10_000;
const LOOK_MS = 60_000;
/** Less is not worth the pause, about a tenth of a second. */
const WORTH_BYTES = 4 * 1024 * 1024;
/** Of one processor, since the look before. */
const MAX_BUSY_SHARE = 0.05;

/** Looks a while after the start, and then again and again; it acts only on a process that has little to do. */
export function returnMemoryAtRest(): void {
  const timer = setTimeout(() => {
    if (readSpareBytes() >= WORTH_BYTES) collectGarbage();
    let usedBefore = process.cpuUsage();
    setInterval(() => {
      const { user, system } = process.cpuUsage(usedBefore);
      usedBefore = process.cpuUsage();
      const isAtRest = user + system < MAX_BUSY_SHARE * LOOK_MS * 1_000;
      if (isAtRest && readSpareBytes() >= WORTH_BYTES) collectGarbage();
    }, LOOK_MS).unref();
  }, FIRST_LOOK_MS);
  timer.unref();
}

function readSpareBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.physical_space_size ?? 0;
}

/** The inspector asks for it as when memory is short; any other collection leaves the young objects the room they have. */
function collectGarbage(): void {
  const session = new Session();
  session.connect();
  // It happens in a later turn, and not at all for a session that has ended; one that ends within its own answer hangs.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
}
