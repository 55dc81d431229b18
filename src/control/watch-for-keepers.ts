/**
 * Looks whether any node has given a sign of life lately that does what is done for all: without one calls go on and are
 * stored, but nothing is deleted, no job runs and there is no dashboard. Said once, and once when it is over.
 */
import { SILENT_AFTER_MINUTES, type StoredNode } from '../store/nodes.ts';
import { type Repeating, repeat } from './repeat.ts';

/** As often as nodes give their signs; nodes that start together have given theirs by the second look. */
const LOOK_INTERVAL_MS = 15_000;

const NOBODY = `no node with the role "control" or "all" has given a sign of life within ${SILENT_AFTER_MINUTES} minutes: nothing is deleted, no job runs, no price is fetched, nothing is estimated; start one`;

export interface RepeatedWatch extends Repeating {
  /** Null when there is such a node, or when that is not known. */
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
  let isFirst = true;
  const repeating = repeat(async () => {
    if (isFirst) {
      isFirst = false;
      return LOOK_INTERVAL_MS;
    }
    const nodes = await listNodes();
    // A database that is away says nothing of it.
    if (nodes === null) return LOOK_INTERVAL_MS;
    const wasMissing = isMissing;
    isMissing = !isKept(nodes);
    if (isMissing && !wasMissing) log.warn(NOBODY);
    if (!isMissing && wasMissing) log.info('a node with the role "control" or "all" gives signs of life again');
    return LOOK_INTERVAL_MS;
  });
  return { stop: repeating.stop, problem: () => (isMissing ? NOBODY : null) };
}
