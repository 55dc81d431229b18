/**
 * The time of a process. It goes on by a monotonic clock from where it began, so that a wall clock which jumps moves no
 * call against another; the control process says where it stands by the clock of the database, when that disagrees.
 */

/** A machine whose clock is further away from the database's is wrong: it does nothing that cannot be undone. */
export const MAX_SKEW_MS = 120_000;
/** A wall clock that has moved so far against the monotonic one has jumped, or the machine has slept. */
export const STEP_MS = 1_000;

/** A monotonic clock that all processes of the machine share → the time. */
export interface ClockReading {
  /** The time when the machine's monotonic clock stood at 0. */
  readonly epochMs: number;
  /** It goes by the database: the machine's own clock is wrong. */
  readonly isCorrected: boolean;
}

export interface Clock {
  readonly nowMs: () => number;
  readonly isCorrected: () => boolean;
  readonly set: (reading: ClockReading) => void;
  /** As it would be given to another process. */
  readonly reading: () => ClockReading;
}

export interface ClockSources {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

const NANOSECONDS_PER_MS = 1e6;

/** Of the whole machine, where `performance.now()` begins with each process. */
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
