/**
 * Reports once when no live node does the work for all, and once when one is back: meanwhile nothing is deleted, no job
 * runs and there is no dashboard.
 */
import { SILENT_AFTER_MINUTES, type StoredNode } from '../store/nodes.ts';
import { type Repeating, repeat } from './repeat.ts';

/** Equals the interval of signs of life, so that nodes starting together have given theirs by the second look. */
const LOOK_INTERVAL_MS = 15_000;

const NOBODY = `no node with the role "control" or "all" has given a sign of life within ${SILENT_AFTER_MINUTES} minutes: nothing is deleted, no job runs, no price is fetched, nothing is estimated; start one`;

export interface RepeatedWatch extends Repeating {
  /** Null when there is such a node, or when it is unknown. */
  readonly problem: () => string | null;
}

export function isKept(nodes: readonly Pick<StoredNode, 'role' | 'silentMs'>[]): boolean {
  return nodes.some(({ role, silentMs }) => role !== 'proxy' && silentMs < SILENT_AFTER_MINUTES * 60_000);
}

export function watchForKeepers(
  listNodes: () => Promise<readonly StoredNode[] | null>,
  log: { info(message: string): void; warn(message: string): void },
): RepeatedWatch {
  let isMissing = false;
  const repeating = repeat(async () => {
    const nodes = await listNodes();
    if (nodes === null) return LOOK_INTERVAL_MS;
    const wasMissing = isMissing;
    isMissing = !isKept(nodes);
    if (isMissing && !wasMissing) log.warn(NOBODY);
    if (!isMissing && wasMissing) log.info('a node with the role "control" or "all" gives signs of life again');
    return LOOK_INTERVAL_MS;
  }, LOOK_INTERVAL_MS);
  return { stop: repeating.stop, problem: () => (isMissing ? NOBODY : null) };
}
