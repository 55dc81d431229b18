/** When a budget's period began and when the next one begins, in the budget's time zone. Pure. */
import type { BudgetPeriod } from './budget.ts';

export interface PeriodBounds {
  readonly startMs: number;
  /** When it is full again; null for `once`. */
  readonly endMs: number | null;
}

const ONCE: PeriodBounds = Object.freeze({ startMs: 0, endMs: null });

export function periodAt(period: BudgetPeriod, timeZone: string, nowMs: number): PeriodBounds {
  if (period === 'once') return ONCE;
  const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(nowMs)).toZonedDateTimeISO(timeZone);
  const [start, end] = boundsOf(period, now);
  return { startMs: start.epochMilliseconds, endMs: end.epochMilliseconds };
}

function boundsOf(
  period: Exclude<BudgetPeriod, 'once'>,
  now: Temporal.ZonedDateTime,
): [Temporal.ZonedDateTime, Temporal.ZonedDateTime] {
  switch (period) {
    case 'hour': {
      const start = now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
      return [start, start.add({ hours: 1 })];
    }
    case 'day': {
      const start = now.startOfDay();
      return [start, start.add({ days: 1 }).startOfDay()];
    }
    case 'week': {
      const start = now.subtract({ days: now.dayOfWeek - 1 }).startOfDay();
      return [start, start.add({ days: 7 }).startOfDay()];
    }
    case 'month': {
      const start = now.with({ day: 1 }).startOfDay();
      return [start, start.add({ months: 1 }).startOfDay()];
    }
  }
}

/** False for a name that no time zone has. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** Remembers the period that is under way, since it is asked for at every call. */
export class Periods {
  readonly #known = new Map<string, PeriodBounds>();

  at(period: BudgetPeriod, timeZone: string, nowMs: number): PeriodBounds {
    if (period === 'once') return ONCE;
    const name = `${period} ${timeZone}`;
    const known = this.#known.get(name);
    if (known !== undefined && known.startMs <= nowMs && (known.endMs === null || nowMs < known.endMs)) return known;
    const bounds = periodAt(period, timeZone, nowMs);
    this.#known.set(name, bounds);
    return bounds;
  }
}
