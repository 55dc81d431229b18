/** Compares this node's clock with the database's, notices jumps, and keeps the time that this node's processes use. */
import type pg from 'pg';
import {
  type Clock,
  type ClockReading,
  type ClockSources,
  createClock,
  createMonotonic,
  MAX_SKEW_MS,
  STEP_MS,
} from '../../vocabulary/clock.ts';
import type { NodeClockState } from '../admin/admin-deps.ts';
import { readDatabaseTime } from '../store/database-clock.ts';

/** A slower answer says too little about the time. */
const MAX_ROUND_TRIP_MS = 20_000;

export interface NodeClock {
  readonly nowMs: () => number;
  readonly state: () => NodeClockState;
  readonly compare: (client: pg.ClientBase | pg.Pool) => Promise<number>;
  /** Call it every second or so. Returns the jump of the machine's clock in milliseconds, or 0. */
  readonly watch: () => number;
}

export interface NodeClockOptions {
  /** Called when this node's time has changed. */
  readonly onReading: (reading: ClockReading) => void;
  readonly sources?: ClockSources;
}

export function isTrusted(skewMs: number | null): boolean {
  return skewMs !== null && Math.abs(skewMs) <= MAX_SKEW_MS;
}

export function createNodeClock({ onReading, sources }: NodeClockOptions): NodeClock {
  const { wallMs, monotonicMs } = sources ?? { wallMs: Date.now, monotonicMs: createMonotonic() };
  const clock: Clock = createClock({ wallMs, monotonicMs });
  /** The machine's clock at the monotonic clock's zero. */
  let wallEpochMs = wallMs() - monotonicMs();
  let state: NodeClockState = { skewMs: null, steppedAtMs: null, stepMs: null };

  /** The next comparison judges a jump of the machine's clock. */
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
