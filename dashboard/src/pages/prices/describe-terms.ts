/** On which prompts and at which hours a rate holds, in words; null where it always does. */
import type { PriceRow } from '../../api/prices.ts';

function count(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

export function describePrompts(tier: PriceRow['prompt_tier']): string | null {
  if (tier === null) return null;
  const { over_tokens: over, up_to_tokens: upTo } = tier;
  if (over === null) return upTo === null ? null : `prompts up to ${count(upTo)} tokens`;
  return upTo === null
    ? `prompts over ${count(over)} tokens`
    : `prompts over ${count(over)}, up to ${count(upTo)} tokens`;
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const HOUR_MINUTES = 60;

function describeOffset(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const absolute = Math.abs(minutes);
  const rest = absolute % HOUR_MINUTES;
  const hours = Math.floor(absolute / HOUR_MINUTES);
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

export function describeHours(calendar: PriceRow['calendar']): string | null {
  if (calendar === null) return null;
  const { weekdays, from, to, utc_offset_minutes } = calendar;
  const days = weekdays.length === DAYS.length ? '' : `${weekdays.map((day) => DAYS[day - 1] ?? day).join(', ')} `;
  return `${days}${from}–${to} ${describeOffset(utc_offset_minutes)}`;
}
