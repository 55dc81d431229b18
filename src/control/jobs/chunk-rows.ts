/** How many rows a chunk takes, by its speed on this machine and line. Pure. */
import { CHUNK_MS } from './job.ts';

/** Fewer are not worth a transaction, unless they take long. */
const MIN_ROWS = 100;
const LONG_CHUNK_MS = 15_000;
const MAX_GROWTH = 2;

/** Returns the planned rows, quartered after each failure, at least one. */
export function chunkRows(planned: number, failures: number, maxRows: number): number {
  return Math.min(maxRows, Math.max(1, Math.round(planned / 4 ** failures)));
}

/** Returns the rows that take about `CHUNK_MS`. */
export function nextChunkRows(rows: number, tookMs: number, maxRows: number): number {
  const wanted = rows * Math.min(MAX_GROWTH, CHUNK_MS / Math.max(1, tookMs));
  const least = Math.min(MIN_ROWS, tookMs > LONG_CHUNK_MS ? rows : rows * MAX_GROWTH);
  return Math.round(Math.min(maxRows, Math.max(least, wanted)));
}
