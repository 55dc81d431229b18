/** Brings what is paused to every local proxy. The supervisor keeps the list for proxies and starts to come. */
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Pause } from '../../vocabulary/channel.ts';
import { listPauses } from '../brakes/brake-hits.ts';

export interface PausePublisher {
  /** Publishes the database's list if it is another than the last one. */
  readonly poll: () => Promise<void>;
}

export function createPausePublisher(pool: pg.Pool, send: (pauses: readonly Pause[]) => void): PausePublisher {
  /** Null: whatever the supervisor has of the time before may be old. */
  let held: readonly Pause[] | null = null;
  return {
    poll: async () => {
      const stored = await listPauses(pool);
      if (isDeepStrictEqual(stored, held)) return;
      held = stored;
      send(stored);
    },
  };
}
