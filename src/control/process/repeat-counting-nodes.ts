/** Tells the supervisor how many nodes serve calls: each has its share of every limit. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { ChildChannel } from '../../vocabulary/channel.ts';
import { countServingNodes } from '../store/nodes.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const PAUSE_MS = 5_000;

export function repeatCountingNodes(send: ChildChannel['send'], pool: pg.Pool, log: Logger): Repeating {
  /** Null: a supervisor may still go by what the control process before this one said. */
  let told: number | null = null;
  return repeatOnDatabase({
    pauseMs: PAUSE_MS,
    failure: 'the nodes could not be counted',
    log,
    run: async () => {
      const count = await countServingNodes(pool);
      if (count !== told) send({ type: 'live-nodes', count });
      told = count;
    },
  });
}
