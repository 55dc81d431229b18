/**
 * Keeps the roll-ups of all nodes, on the node that comes first: folds them every two seconds, fills them up after an
 * upgrade or a restore, and mends hours to which a former release added calls. A failure is tried again.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { fillFacets, mendFacets } from '../log/fill-facets.ts';
import { foldRollups } from '../log/fold-rollups.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const PAUSE_MS = 2_000;
/** When much waits, half the time is left to others. */
const BUSY_PAUSE_MS = 200;
/** A restore may bring hours that are not filled, and a node of a former release may still be storing calls. */
const LOOK_PAUSE_MS = 60_000;

export function repeatFolding(pool: pg.Pool, log: Logger, lookPauseMs = LOOK_PAUSE_MS): Repeating {
  let lookAtMs = Number.NEGATIVE_INFINITY;
  return repeatOnDatabase({
    pauseMs: PAUSE_MS,
    failure: 'the roll-ups could not be folded',
    log,
    run: async () => {
      const isMore = await foldRollups(pool);
      if (isMore === null) return PAUSE_MS;
      if (isMore) return BUSY_PAUSE_MS;
      if (performance.now() < lookAtMs) return PAUSE_MS;
      if (await fillFacets(pool)) return BUSY_PAUSE_MS;
      const mended = await mendFacets(pool);
      if (mended > 0) log.info({ hours: mended }, 'hours of the roll-ups were made anew from their calls');
      lookAtMs = performance.now() + (mended > 0 ? 0 : lookPauseMs);
      return PAUSE_MS;
    },
  });
}
