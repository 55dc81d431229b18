/** The time of a process, by a monotonic clock; control corrects it by the database's clock. */

/** A machine whose clock is further from the database's does nothing that cannot be undone. */
export const MAX_SKEW_MS = 120_000;
/** A wall clock that moves this far against the monotonic one has jumped, or the machine has slept. */
export const STEP_MS = 1_000;

export interface ClockReading {
  /** The time when the machine's monotonic clock stood at 0. */
  readonly epochMs: number;
  /** The machine's own clock is wrong, and the database's is used. */
  readonly isCorrected: boolean;
}

export interface Clock {
  readonly nowMs: () => number;
  readonly isCorrected: () => boolean;
  readonly set: (reading: ClockReading) => void;
  readonly reading: () => ClockReading;
}

export interface ClockSources {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

const NANOSECONDS_PER_MS = 1e6;

/** The machine's clock; `performance.now()` begins with each process. */
export function createMonotonic(): () => number {
  const startMs = Number(process.hrtime.bigint()) / NANOSECONDS_PER_MS - performance.now();
  return () => startMs + performance.now();
}

export function createClock(sources: ClockSources = { wallMs: Date.now, monotonicMs: createMonotonic() }): Clock {
  const { wallMs, monotonicMs } = sources;
  let reading: ClockReading = { epochMs: wallMs() - monotonicMs(), isCorrected: false };
  return {
    nowMs: () => Math.floor(reading.epochMs + monotonicMs()),
    isCorrected: () => reading.isCorrected,
    set: (next) => {
      reading = next;
    },
    reading: () => reading,
  };
}
