/** Spans of time, in which a search looks. */

/** Milliseconds; `to` is exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The database reads the years 1 to 9999 as JavaScript writes them; no day of the log is beyond. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const END_MS = Date.UTC(10_000, 0);

/** As the database reads it. */
export function timeText(ms: number): string {
  if (ms < FIRST_MS) return '-infinity';
  return ms < END_MS ? new Date(ms).toISOString() : 'infinity';
}
