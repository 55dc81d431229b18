/**
 * A question to a roll-up by hour, asked for one stretch of hours after the other, the newest first, so that its work is
 * bounded however many rows an hour has. `walk-window.ts` does the same over calls.
 */
import type pg from 'pg';
import { HOUR_MS } from './cost-buckets.ts';
import type { TimeRange } from './cost-source.ts';
import { askWithin, type WalkLimits } from './walk-window.ts';

/** A stretch should take this long; the next one is made longer or shorter accordingly. */
const STRETCH_MS = 60;
const MAX_GROWTH = 8;
const SHRINKING = 1 / 8;
/** With less time left, another stretch is not begun. */
const LEAST_MS = 20;

/**
 * `range` begins and ends with an hour. The first stretch has `firstHours` and is always asked, also where the range has no
 * hour: what is read with it may lie at its ends. One that takes too long is undone, and asked again in parts or not at all. Returns the time before which no hour was asked; null when all were.
 */
export async function walkHours(
  client: pg.ClientBase,
  { from, to }: TimeRange,
  firstHours: number,
  { budgetMs, monotonicMs }: WalkLimits,
  ask: (stretch: TimeRange) => Promise<void>,
): Promise<Date | null> {
  const startedMs = monotonicMs();
  let end = to.getTime();
  let hours = firstHours;
  do {
    const isFirst = end === to.getTime();
    const stretchStartedMs = monotonicMs();
    const leftMs = budgetMs - (stretchStartedMs - startedMs);
    if (!isFirst && leftMs < LEAST_MS) return new Date(end);
    const start = Math.max(from.getTime(), end - hours * HOUR_MS);
    const stretch = { from: new Date(start), to: new Date(end) };
    const answer = isFirst ? await ask(stretch) : await askWithin(client, leftMs / 2, () => ask(stretch));
    const asked = (end - start) / HOUR_MS;
    const growth = Math.min(MAX_GROWTH, STRETCH_MS / Math.max(1, monotonicMs() - stretchStartedMs));
    hours = Math.max(1, Math.floor(asked * (answer === 'too_long' ? SHRINKING : growth)));
    if (answer !== 'too_long') end = start;
  } while (end > from.getTime());
  return null;
}
