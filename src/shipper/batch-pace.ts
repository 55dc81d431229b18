/**
 * How large a batch may be. A batch that takes too long is taken back as a whole, so the next one is half as large,
 * down to a single record; and when even that takes too long, it gets more time. Batches that are stored soon make the
 * next ones larger. So records move, whatever the speed of the database and of the line to it. No clock, no database.
 */
import pg from 'pg';

/** At first and after a restart: nobody knows how fast the database is. */
const FIRST_ENDS = 100;
const FIRST_BYTES = 1024 * 1024;
const MAX_ENDS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
/** A batch that takes longer loses its connection; it is tried again like any other failure. */
export const BATCH_TIMEOUT_MS = 60_000;
/** For a single record: 16 MiB at 9 kB/s. */
export const MAX_BATCH_TIMEOUT_MS = 30 * 60_000;
/** Of that time: others wait for their turn meanwhile, and a failure would cost all of it. */
const SLOW_SHARE = 1 / 3;
const QUICK_SHARE = 1 / 12;

export interface BatchSize {
  /** Records of any kind. */
  readonly records: number;
  /** Those that end a call. */
  readonly ends: number;
  /** 0: of records that are not read from the spool. */
  readonly bytes: number;
}

export interface BatchLimits {
  readonly maxEnds: number;
  readonly maxBytes: number;
}

export interface BatchPace {
  readonly limits: () => BatchLimits;
  readonly timeoutMs: () => number;
  readonly noteStored: (size: BatchSize, tookMs: number) => void;
  /** It took too long, or its connection broke in the middle of it. */
  readonly noteFailed: (size: BatchSize) => void;
}

/** `usualMs`: the time of a batch to begin with; shorter in tests. */
export function createBatchPace(usualMs: number = BATCH_TIMEOUT_MS): BatchPace {
  let limits: BatchLimits = { maxEnds: FIRST_ENDS, maxBytes: FIRST_BYTES };
  let timeoutMs = usualMs;
  /** The record for which there is more time now. */
  let slowestBytes = 0;

  function scale({ maxEnds, maxBytes }: BatchLimits, by: number): void {
    limits = {
      maxEnds: Math.min(MAX_ENDS, Math.max(1, Math.floor(maxEnds * by))),
      maxBytes: Math.min(MAX_BYTES, Math.max(1, Math.floor(maxBytes * by))),
    };
  }

  /** What was in the batch may be less than what might have been; what was none of it was not at fault. */
  function halve({ ends, bytes }: BatchSize): void {
    const { maxEnds, maxBytes } = limits;
    scale({ maxEnds: Math.min(maxEnds, ends || maxEnds), maxBytes: Math.min(maxBytes, bytes || maxBytes) }, 0.5);
  }

  return {
    limits: () => limits,
    timeoutMs: () => timeoutMs,
    noteStored(size, tookMs) {
      const isFull = size.ends >= limits.maxEnds || size.bytes >= limits.maxBytes;
      if (tookMs > usualMs * SLOW_SHARE && size.records > 1) halve(size);
      else if (tookMs < usualMs * QUICK_SHARE && isFull) scale(limits, 2);
      if (size.bytes >= slowestBytes && tookMs < usualMs / 2) {
        timeoutMs = usualMs;
        slowestBytes = 0;
      }
    },
    noteFailed(size) {
      halve(size);
      if (size.records > 1) return;
      timeoutMs = Math.min(MAX_BATCH_TIMEOUT_MS, timeoutMs * 2);
      slowestBytes = Math.max(slowestBytes, size.bytes);
    },
  };
}

/** The batch was taken back since it was not done in time. */
export class BatchTimeoutError extends Error {
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(
      `a batch took longer than ${timeoutMs / 1_000} s; it is tried again in smaller parts, or with more time`,
      options,
    );
    this.name = 'BatchTimeoutError';
  }
}

/**
 * SQLSTATE: a connection that broke (08), a statement that was cancelled, memory that did not suffice, and a server
 * that ended the connection.
 */
const TOO_MUCH = /^(?:08...|57014|53200|57P0[1-5])$/;

/** Whether less may be what helps, of a failure in the middle of a batch. */
export function mayBeTooMuch(error: unknown): boolean {
  if (error instanceof BatchTimeoutError) return true;
  if (error instanceof pg.DatabaseError) return TOO_MUCH.test(error.code ?? '');
  return (
    error instanceof Error &&
    /connection terminated|query read timeout|not queryable|ECONNRESET|EPIPE/i.test(error.message)
  );
}
