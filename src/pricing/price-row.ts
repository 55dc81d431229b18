/** The price of one usage class of one model. Catalog and overlay compile to these rows; cost lines name them. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { PicturesAsked, UsageClass } from '../vocabulary/token-usage.ts';
import type { Decimal } from './decimal.ts';
import type { ModelTest } from './model-match.ts';

export const PRICE_LAYERS = ['override', 'overlay', 'catalog'] as const;
export type PriceLayer = (typeof PRICE_LAYERS)[number];

export function higherLayer(a: PriceLayer, b: PriceLayer): PriceLayer {
  return PRICE_LAYERS.find((layer) => layer === a || layer === b) ?? a;
}

/** `any` is for prices that no tier changes (a web search). */
export const ROW_TIERS = ['standard', 'flex', 'priority', 'batch', 'any'] as const;
export type RowTier = (typeof ROW_TIERS)[number];

/** Hours of the week at a fixed UTC offset; `toMinute` is exclusive, and a window may pass midnight. */
export interface Calendar {
  readonly utcOffsetMinutes: number;
  /** ISO: 1 is Monday. */
  readonly weekdays: readonly number[];
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** Holds for MORE than `overTokens` and AT MOST `upToTokens` prompt tokens, cached ones included. */
export interface PromptTier {
  readonly overTokens: number;
  readonly upToTokens: number;
}

/** Pictures with these settings; null stands for a setting left to the API. */
export interface PictureScope {
  readonly sizes: readonly (string | null)[];
  readonly qualities: readonly (string | null)[];
}

export interface PriceRow {
  /** Unique and stable: stored with every line that used it. */
  readonly key: string;
  readonly layer: PriceLayer;
  readonly provider: ProviderName;
  readonly appliesTo: ModelTest;
  readonly serviceTier: RowTier;
  /** Inclusive; null: no start. */
  readonly validFromMs: number | null;
  /** Exclusive; null: no end. */
  readonly validToMs: number | null;
  readonly calendar: Calendar | null;
  readonly promptTier: PromptTier | null;
  readonly picture: PictureScope | null;
  /** Names of `place.ts`; null: the standard place, and everywhere for operators' prices. */
  readonly places: readonly string[] | null;
  readonly usageClass: UsageClass;
  /** US dollars for `per` units. */
  readonly rate: Decimal;
  readonly per: number;
  readonly source: string;
  readonly checkedOn: string;
}

export const PER_MILLION = 1_000_000;
export const PER_THOUSAND = 1_000;
export const PER_MINUTE_OF_MS = 60_000;
export const PER_HOUR_OF_MS = 3_600_000;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** Counted from 1970. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}

function isInCalendar(calendar: Calendar, atMs: number): boolean {
  const minutes = minuteOf(atMs) + calendar.utcOffsetMinutes;
  const day = Math.floor(minutes / DAY_MINUTES);
  const minute = minutes - day * DAY_MINUTES;
  // Day 0, 1970-01-01, was a Thursday.
  const weekday = ((((day + 3) % 7) + 7) % 7) + 1;
  if (!calendar.weekdays.includes(weekday)) return false;
  const { fromMinute, toMinute } = calendar;
  return toMinute < fromMinute ? minute >= fromMinute || minute < toMinute : minute >= fromMinute && minute < toMinute;
}

export function isValidAt(
  dated: { readonly validFromMs: number | null; readonly validToMs: number | null },
  atMs: number,
): boolean {
  return (
    (dated.validFromMs === null || atMs >= dated.validFromMs) && (dated.validToMs === null || atMs < dated.validToMs)
  );
}

export function isForPictures(scope: PictureScope | null, asked: PicturesAsked | undefined): boolean {
  if (scope === null) return true;
  return asked !== undefined && scope.sizes.includes(asked.size) && scope.qualities.includes(asked.quality);
}

/** Model and tier are matched elsewhere. */
export function isRowInForce(row: PriceRow, atMs: number, promptTokens: number): boolean {
  if (!isValidAt(row, atMs)) return false;
  if (row.calendar !== null && !isInCalendar(row.calendar, atMs)) return false;
  return (
    row.promptTier === null || (promptTokens > row.promptTier.overTokens && promptTokens <= row.promptTier.upToTokens)
  );
}
