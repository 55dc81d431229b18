/** Spans of time, in which a search looks. */

/** Milliseconds; `to` is exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** As the database reads it. */
export function timeText(ms: number): string {
  if (Number.isFinite(ms)) return new Date(ms).toISOString();
  return ms > 0 ? 'infinity' : '-infinity';
}
