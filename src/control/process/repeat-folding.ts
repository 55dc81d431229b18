/**
 * Keeps the roll-ups of all nodes, on the node that comes first: folds them every two seconds, fills them up after an
 * upgrade, and mends hours to which a former release added calls. A failure is tried again.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { fillFacets, mendFacets } from '../log/fill-facets.ts';
import { foldRollups } from '../log/fold-rollups.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const PAUSE_MS = 2_000;
/** When much waits, half the time is left to others. */
const BUSY_PAUSE_MS = 200;
const MEND_PAUSE_MS = 60_000;

export function repeatFolding(pool: pg.Pool, log: Logger): Repeating {
  let mendAtMs = Number.NEGATIVE_INFINITY;
  let isFilled = false;
  return repeatOnDatabase({
    pauseMs: PAUSE_MS,
    failure: 'the roll-ups could not be folded',
    log,
    run: async () => {
      const isMore = await foldRollups(pool);
      if (isMore === null) return PAUSE_MS;
      if (isMore) return BUSY_PAUSE_MS;
      if (!isFilled) {
        isFilled = !(await fillFacets(pool));
        return BUSY_PAUSE_MS;
      }
      if (performance.now() < mendAtMs) return PAUSE_MS;
      const mended = await mendFacets(pool);
      if (mended > 0) log.info({ hours: mended }, 'hours of the roll-ups were made anew from their calls');
      // A node of a former release may still be storing calls.
      mendAtMs = performance.now() + (mended > 0 ? 0 : MEND_PAUSE_MS);
      return PAUSE_MS;
    },
  });
}
