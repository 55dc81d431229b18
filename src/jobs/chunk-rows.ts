/** How many rows a chunk of a job takes, whatever the machine and the line to the database make of them. Pure. */
import { CHUNK_MS } from './job.ts';

/** Fewer are not worth their transaction, unless they take long. */
const MIN_ROWS = 100;
const LONG_CHUNK_MS = 15_000;
/** A chunk may be at most so many times as large as the one before. */
const MAX_GROWTH = 2;

/** Of this chunk: what the one before left for it, and a quarter of that after each failure, down to one. */
export function chunkRows(planned: number, failures: number, maxRows: number): number {
  return Math.min(maxRows, Math.max(1, Math.round(planned / 4 ** failures)));
}

/** Of the next chunk: as many as take about `CHUNK_MS`. */
export function nextChunkRows(rows: number, tookMs: number, maxRows: number): number {
  const wanted = rows * Math.min(MAX_GROWTH, CHUNK_MS / Math.max(1, tookMs));
  const least = Math.min(MIN_ROWS, tookMs > LONG_CHUNK_MS ? rows : rows * MAX_GROWTH);
  return Math.round(Math.min(maxRows, Math.max(least, wanted)));
}
