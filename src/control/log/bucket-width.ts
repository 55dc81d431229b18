/** The width of the bars of a chart over time. Bars start at multiples of their width since 1970, in UTC. */
import { namesOf } from '../../vocabulary/record-of.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const MAX_BUCKETS = 120;

const BUCKET_WIDTHS_MS = {
  '5s': 5 * SECOND_MS,
  '10s': 10 * SECOND_MS,
  '15s': 15 * SECOND_MS,
  '30s': 30 * SECOND_MS,
  '1m': MINUTE_MS,
  '2m': 2 * MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '10m': 10 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '2h': 2 * HOUR_MS,
  '3h': 3 * HOUR_MS,
  '6h': 6 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
} as const;
export type BucketWidth = keyof typeof BUCKET_WIDTHS_MS;

export const BUCKET_WIDTH_NAMES: readonly BucketWidth[] = namesOf(BUCKET_WIDTHS_MS);

function countBuckets(from: Date, to: Date, widthMs: number): number {
  return Math.floor((to.getTime() - 1) / widthMs) - Math.floor(from.getTime() / widthMs) + 1;
}

/** Returns the narrowest width with at most 120 bars that is not below `wished`; beyond a day, whole days. */
export function chooseBucketMs(from: Date, to: Date, wished: BucketWidth | null): number {
  const leastMs = wished === null ? 0 : BUCKET_WIDTHS_MS[wished];
  for (const widthMs of Object.values(BUCKET_WIDTHS_MS))
    if (widthMs >= leastMs && countBuckets(from, to, widthMs) <= MAX_BUCKETS) return widthMs;
  // The first and the last bar may be partial, so one bar less must do.
  return Math.ceil((to.getTime() - from.getTime()) / (MAX_BUCKETS - 1) / DAY_MS) * DAY_MS;
}

/** Returns the starts of all bars that touch [`from`, `to`), in milliseconds since 1970. */
export function listBucketStarts(from: Date, to: Date, widthMs: number): readonly number[] {
  const first = Math.floor(from.getTime() / widthMs) * widthMs;
  return Array.from({ length: countBuckets(from, to, widthMs) }, (_, index) => first + index * widthMs);
}
