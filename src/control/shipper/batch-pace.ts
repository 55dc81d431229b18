/**
 * How large a batch may be. One that takes too long is rolled back, so the next is half as large; a single record gets
 * more time instead. Fast batches make the next ones larger. Pure.
 */
import pg from 'pg';

/** The database's speed is unknown after a start. */
const FIRST_ENDS = 100;
const FIRST_BYTES = 1024 * 1024;
const MAX_ENDS = 500;
const MAX_BYTES = 8 * 1024 * 1024;
/** A longer batch loses its connection and is tried again. */
export const BATCH_TIMEOUT_MS = 60_000;
/** For a single record: 16 MiB at 9 kB/s. */
export const MAX_BATCH_TIMEOUT_MS = 30 * 60_000;
/** A slow batch holds up others and costs much when it fails. */
const SLOW_SHARE = 1 / 3;
const QUICK_SHARE = 1 / 12;

export interface BatchSize {
  readonly records: number;
  /** Records that end a call. */
  readonly ends: number;
  /** 0 for records that were not read from the spool. */
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
  /** The batch took too long, or its connection broke. */
  readonly noteFailed: (size: BatchSize) => void;
}

export function createBatchPace(usualMs: number = BATCH_TIMEOUT_MS): BatchPace {
  let limits: BatchLimits = { maxEnds: FIRST_ENDS, maxBytes: FIRST_BYTES };
  let timeoutMs = usualMs;
  /** The record that gets more time. */
  let slowestBytes = 0;

  function scale({ maxEnds, maxBytes }: BatchLimits, by: number): void {
    limits = {
      maxEnds: Math.min(MAX_ENDS, Math.max(1, Math.floor(maxEnds * by))),
      maxBytes: Math.min(MAX_BYTES, Math.max(1, Math.floor(maxBytes * by))),
    };
  }

  /** A batch may have been smaller than allowed; a bound on what it had none of was not at fault. */
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

export class BatchTimeoutError extends Error {
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(
      `a batch took longer than ${timeoutMs / 1_000} s; it is tried again in smaller parts, or with more time`,
      options,
    );
    this.name = 'BatchTimeoutError';
  }
}

/** SQLSTATEs: broken connection (08), cancelled statement, lack of memory, connection ended by the server. */
const TOO_MUCH = /^(?:08...|57014|53200|57P0[1-5])$/;

export function mayBeTooMuch(error: unknown): boolean {
  if (error instanceof BatchTimeoutError) return true;
  if (error instanceof pg.DatabaseError) return TOO_MUCH.test(error.code ?? '');
  return (
    error instanceof Error &&
    /connection terminated|query read timeout|not queryable|ECONNRESET|EPIPE/i.test(error.message)
  );
}
