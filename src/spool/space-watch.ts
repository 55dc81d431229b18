/** Which step the room for records asks for, measured every two seconds and reckoned in between. It drops nothing. */
import type { SpoolLog } from './spool-log.ts';
import { judgeSpace, readSpace, type SpaceReading, type SpaceStep } from './spool-space.ts';

const SPACE_INTERVAL_MS = 2_000;

export interface SpaceWatch {
  /** Of the whole spool, at most 2 s old plus what was added since. */
  bytes(): number;
  /** With so many bytes on their way. */
  step(pendingBytes: number): SpaceStep;
  /** For bodies, too. */
  hasRoomFor(pendingBytes: number): boolean;
  add(bytes: number): void;
  /** Now, and not only at the next tick. */
  measure(): Promise<void>;
  stop(): void;
}

export interface SpaceWatchOptions {
  readonly spoolDir: string;
  readonly maxBytes: number;
  readonly intervalMs?: number;
  readonly log: SpoolLog;
  /** After each measurement but the one at the start; null when it failed. */
  readonly onTick: (reading: SpaceReading | null) => void;
}

export function watchSpace({ spoolDir, maxBytes, intervalMs, log, onTick }: SpaceWatchOptions): SpaceWatch {
  let bytes = 0;
  let isDiskLow = false;
  let last: SpaceStep = 'roomy';
  let isMeasuring = false;
  /** Since the measurement under way began, which has seen all of it or none: counted twice for a moment, rather than not. */
  let added = 0;

  async function measure(): Promise<SpaceReading | null> {
    if (isMeasuring) return null;
    isMeasuring = true;
    added = 0;
    try {
      const reading = await readSpace(spoolDir);
      bytes = reading.bytes + added;
      isDiskLow = reading.isDiskLow;
      return reading;
    } catch (error) {
      log.warn({ err: error, spoolDir }, 'the size of the spool could not be measured');
      return null;
    } finally {
      isMeasuring = false;
    }
  }

  async function tick(): Promise<void> {
    onTick(await measure());
  }

  const timer = setInterval(() => void tick(), intervalMs ?? SPACE_INTERVAL_MS); // It logs its own failure.
  timer.unref();
  void measure(); // As above.

  return {
    bytes: () => bytes,
    step(pendingBytes) {
      const step = judgeSpace(bytes + pendingBytes, maxBytes, isDiskLow, last);
      if (step !== last) note(step);
      return step;
    },
    hasRoomFor: (pendingBytes) => judgeSpace(bytes + pendingBytes, maxBytes, isDiskLow, last) === 'roomy',
    add(more) {
      bytes += more;
      added += more;
    },
    async measure() {
      await measure();
    },
    stop: () => clearInterval(timer),
  };

  function note(step: SpaceStep): void {
    last = step;
    log.warn({ step, bytes, maxBytes }, 'the room for records in the spool has changed');
  }
}
