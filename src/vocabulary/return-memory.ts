/**
 * Gives back to the system what a process no longer uses. V8 keeps the room that its young objects once took, up to 48 MB
 * after a start, until it is told that memory is short.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Any other collection leaves the young objects the room they have.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
