/**
 * The clock of this node against that of the database. It says whether the machine's clock can be trusted, notices when
 * that jumps, and keeps the time by which this node's processes go. Not what is done by it.
 */
import type pg from 'pg';
import type { NodeClockState } from '../admin/admin-deps.ts';
import {
  type Clock,
  type ClockReading,
  type ClockSources,
  createClock,
  createMonotonic,
  MAX_SKEW_MS,
  STEP_MS,
} from '../clock.ts';
import { readDatabaseTime } from '../store/database-clock.ts';

/** A question that took longer says too little about the time. */
const MAX_ROUND_TRIP_MS = 20_000;

export interface NodeClock {
  readonly nowMs: () => number;
  readonly state: () => NodeClockState;
  /** Compares with the database. Rejects when that does not answer. */
  readonly compare: (client: pg.ClientBase | pg.Pool) => Promise<number>;
  /** To be called every second or so. Returns by how much the machine's clock has jumped since; 0 when it has not. */
  readonly watch: () => number;
}

export interface NodeClockOptions {
  /** Told when the time of this node is another than before. */
  readonly onReading: (reading: ClockReading) => void;
  readonly sources?: ClockSources;
}

export function isTrusted(skewMs: number | null): boolean {
  return skewMs !== null && Math.abs(skewMs) <= MAX_SKEW_MS;
}

export function createNodeClock({ onReading, sources }: NodeClockOptions): NodeClock {
  const { wallMs, monotonicMs } = sources ?? { wallMs: Date.now, monotonicMs: createMonotonic() };
  const clock: Clock = createClock({ wallMs, monotonicMs });
  /** Where the machine's clock stands above the monotonic one. */
  let wallEpochMs = wallMs() - monotonicMs();
  let state: NodeClockState = { skewMs: null, steppedAtMs: null, stepMs: null };

  /** A jump of the machine's clock alone changes nothing here: what the database says next decides. */
  function settle(databaseEpochMs: number, skewMs: number): void {
    const isCorrected = !isTrusted(skewMs);
    const epochMs = isCorrected ? databaseEpochMs : wallEpochMs;
    const before = clock.reading();
    if (before.isCorrected === isCorrected && Math.abs(before.epochMs - epochMs) < STEP_MS) return;
    clock.set({ epochMs, isCorrected });
    onReading(clock.reading());
  }

  function watch(): number {
    const epochMs = wallMs() - monotonicMs();
    const stepMs = Math.round(epochMs - wallEpochMs);
    if (Math.abs(stepMs) < STEP_MS) return 0;
    wallEpochMs = epochMs;
    state = { ...state, steppedAtMs: clock.nowMs(), stepMs };
    return stepMs;
  }

  return {
    nowMs: clock.nowMs,
    state: () => state,
    watch,
    compare: async (client) => {
      const askedMs = monotonicMs();
      const databaseMs = await readDatabaseTime(client);
      const tookMs = monotonicMs() - askedMs;
      if (tookMs > MAX_ROUND_TRIP_MS) throw new Error('the database took too long to say what time it is');
      watch();
      const databaseEpochMs = databaseMs - (askedMs + tookMs / 2);
      const skewMs = Math.round(wallEpochMs - databaseEpochMs);
      state = { ...state, skewMs };
      settle(databaseEpochMs, skewMs);
      return skewMs;
    },
  };
}
