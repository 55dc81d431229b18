/** A stretch of time in words, for the axis and for what is said about a bar. */
import type { Costs } from '../../api/costs.ts';
import type { TimeWindow } from '../../search/time-window.ts';

type BucketInterval = Costs['interval'];

const AXIS: Readonly<Record<BucketInterval, Intl.DateTimeFormatOptions>> = {
  hour: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
  none: { day: 'numeric', month: 'short', year: 'numeric' },
};

const FULL: Readonly<Record<BucketInterval, Intl.DateTimeFormatOptions>> = {
  hour: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...AXIS.hour },
  day: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  none: AXIS.none,
};

/** Short; the first hour of a day says the day instead. */
export function axisLabel(start: string, interval: BucketInterval, timeZone: string): string {
  const at = Date.parse(start);
  const text = new Intl.DateTimeFormat('en-GB', { ...AXIS[interval], timeZone }).format(at);
  if (interval !== 'hour' || text !== '00:00') return text;
  return new Intl.DateTimeFormat('en-GB', { ...AXIS.day, timeZone }).format(at);
}

export function fullLabel(start: string, interval: BucketInterval, timeZone: string): string {
  const text = new Intl.DateTimeFormat('en-GB', { ...FULL[interval], timeZone }).format(Date.parse(start));
  return interval === 'week' ? `Week of ${text}` : text;
}

/** The window that buckets `first` to `last` cover, inside the answer's own. */
export function bucketWindow(
  costs: Pick<Costs, 'bucket_starts' | 'from' | 'to'>,
  first: number,
  last: number,
): TimeWindow {
  const [low, high] = [Math.min(first, last), Math.max(first, last)];
  const fromMs = Math.max(Date.parse(costs.from), Date.parse(costs.bucket_starts[low] ?? costs.from));
  const toMs = Math.min(Date.parse(costs.to), Date.parse(costs.bucket_starts[high + 1] ?? costs.to));
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
