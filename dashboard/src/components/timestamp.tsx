/** A moment in the chosen time zone; the exact instant on hover. */
import { usePreferences } from '../preferences.tsx';

/** `hour`: the moment is the beginning of an hour in which something happened. */
type TimestampForm = 'time' | 'datetime' | 'relative' | 'hour';

function formatIn(timeZone: string, atMs: number, form: TimestampForm): string {
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(form === 'time' ? { fractionalSecondDigits: 3 } : {}),
    hourCycle: 'h23',
  }).format(atMs);
  if (form === 'time') return time;
  const date = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(atMs);
  return form === 'hour' ? `${date}, ${time.slice(0, 5)} or within the hour` : `${date} ${time}`;
}

const STEPS = [
  [60_000, 1_000, 'second'],
  [3_600_000, 60_000, 'minute'],
  [86_400_000, 3_600_000, 'hour'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'day'],
] as const;

export function formatRelative(atMs: number, nowMs: number): string {
  const distanceMs = atMs - nowMs;
  const [, unitMs, unit] = STEPS.find(([below]) => Math.abs(distanceMs) < below) ?? STEPS[3];
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(distanceMs / unitMs), unit);
}

/** The zone's short name now, e.g. `UTC` or `GMT+1`, for headers and axes. */
export function useZoneName(): string {
  const { timeZone } = usePreferences();
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'short' }).formatToParts(Date.now());
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
}

interface TimestampProps {
  /** RFC 3339; null when it never happened. */
  readonly at: string | null;
  readonly form?: TimestampForm;
  readonly never?: string;
}

export function Timestamp({ at, form = 'datetime', never = '—' }: TimestampProps) {
  const { timeZone } = usePreferences();
  if (at === null) return <span className="text-ink-faint">{never}</span>;
  const atMs = Date.parse(at);
  const title = `${formatIn(timeZone, atMs, 'datetime')} ${timeZone}\n${at}\n${formatRelative(atMs, Date.now())}`;
  return (
    <time className="num" dateTime={at} title={title}>
      {form === 'relative' ? formatRelative(atMs, Date.now()) : formatIn(timeZone, atMs, form)}
    </time>
  );
}
