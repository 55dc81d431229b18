/** A time as a person types it. Without a zone it is one of the zone that the page shows, not of the browser's. */
import { instantMs } from './time-window.ts';

/** A date, then perhaps a time of day, then perhaps a zone; a comma between, as the page itself writes it. */
const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:(?:T|,? +)(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?(Z|[+-]\d{2}:?\d{2}))?)?$/i;
const MINUTE_MS = 60_000;

/** Null for what is no offset, such as `+25:00`. */
function readOffsetMs(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE_MS;
}

/** Milliseconds since 1970; a date alone is the beginning of its day. Null for what is no time, `2026-02-30` as well. */
export function readTime(text: string, timeZone: string): number | null {
  const match = TIME.exec(text.trim());
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const [, , , , , , , fraction = '0', zone] = match;
  const asUtcMs = Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(Number(`0.${fraction}`) * 1_000));
  const date = new Date(asUtcMs);
  // A day that its month does not have would run over.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (zone === undefined) return instantMs(timeZone, asUtcMs);
  const offsetMs = readOffsetMs(zone);
  return offsetMs === null ? null : asUtcMs - offsetMs;
}
