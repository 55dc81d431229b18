/** Named windows of time and the instants they mean now. Calendar windows follow the chosen time zone. */

export const RANGES = {
  '15m': { label: 'Last 15 minutes', ms: 900_000 },
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '6h': { label: 'Last 6 hours', ms: 21_600_000 },
  '24h': { label: 'Last 24 hours', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 604_800_000 },
  '30d': { label: 'Last 30 days', ms: 2_592_000_000 },
  '90d': { label: 'Last 90 days', ms: 7_776_000_000 },
  today: { label: 'Today', ms: null },
  yesterday: { label: 'Yesterday', ms: null },
  mtd: { label: 'This month', ms: null },
  lastmonth: { label: 'Last month', ms: null },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly ms: number | null }>>;

export type RangeName = keyof typeof RANGES;
export const DEFAULT_RANGE: RangeName = '24h';

export interface TimeWindow {
  /** RFC 3339, UTC, inclusive. */
  readonly from: string;
  readonly to: string;
}

export function isRangeName(value: unknown): value is RangeName {
  return typeof value === 'string' && Object.hasOwn(RANGES, value);
}

export function listRanges(): readonly { readonly name: RangeName; readonly label: string }[] {
  const ranges: { name: RangeName; label: string }[] = [];
  let name: RangeName;
  for (name in RANGES) ranges.push({ name, label: RANGES[name].label });
  return ranges;
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function dateIn(timeZone: string, atMs: number): CalendarDate {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    .formatToParts(atMs)
    .map(({ type, value }) => [type, Number(value)]);
  const { year = 0, month = 0, day = 0 } = Object.fromEntries(parts);
  return { year, month, day };
}

function offsetMs(timeZone: string, atMs: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(atMs);
  const {
    year = 0,
    month = 1,
    day = 1,
    hour = 0,
    minute = 0,
    second = 0,
  } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1_000) * 1_000;
}

/** The instant at which the clocks of the zone show what those of UTC show at `asUtcMs`. */
export function instantMs(timeZone: string, asUtcMs: number): number {
  // The offset at the guess, then at the corrected guess: right on both sides of a change of the clocks.
  const guessMs = asUtcMs - offsetMs(timeZone, asUtcMs);
  return asUtcMs - offsetMs(timeZone, guessMs);
}

/** The instant at which a day begins in the zone. Months and days may run over, as in `Date.UTC`. */
export function startOfDayMs(timeZone: string, year: number, month: number, day: number): number {
  return instantMs(timeZone, Date.UTC(year, month - 1, day));
}

function toWindow(fromMs: number, toMs: number): TimeWindow {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** `to` of an open window lies a little ahead, so that calls of this very moment are in it. */
const AHEAD_MS = 60_000;

export function resolveRange(range: RangeName, nowMs: number, timeZone: string): TimeWindow {
  const { ms } = RANGES[range];
  if (ms !== null) return toWindow(nowMs - ms, nowMs + AHEAD_MS);
  const { year, month, day } = dateIn(timeZone, nowMs);
  switch (range) {
    case 'today':
      return toWindow(startOfDayMs(timeZone, year, month, day), nowMs + AHEAD_MS);
    case 'yesterday':
      return toWindow(startOfDayMs(timeZone, year, month, day - 1), startOfDayMs(timeZone, year, month, day));
    case 'lastmonth':
      return toWindow(startOfDayMs(timeZone, year, month - 1, 1), startOfDayMs(timeZone, year, month, 1));
    default:
      return toWindow(startOfDayMs(timeZone, year, month, 1), nowMs + AHEAD_MS);
  }
}

export interface WindowSearch {
  readonly range?: RangeName | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function resolveWindow(
  search: WindowSearch,
  nowMs: number,
  timeZone: string,
  usual: RangeName = DEFAULT_RANGE,
): TimeWindow {
  if (search.from === undefined && search.to === undefined) return resolveRange(search.range ?? usual, nowMs, timeZone);
  const to = search.to === undefined ? nowMs + AHEAD_MS : Date.parse(search.to);
  const from = search.from === undefined ? to - (RANGES[usual].ms ?? 86_400_000) : Date.parse(search.from);
  return toWindow(from, to);
}
