/**
 * A price: what one unit of one usage class of one model costs, when and on which terms. The catalogue and the overlay
 * are both compiled to these rows, and every line of a priced call names the row that it came from.
 */
import type { ProviderName } from '../call-record.ts';
import type { PicturesAsked, UsageClass } from '../token-usage.ts';
import type { Decimal } from './decimal.ts';
import type { ModelTest } from './model-match.ts';

/** Where a price is from; an earlier one outranks a later one. */
export const PRICE_LAYERS = ['override', 'overlay', 'catalog'] as const;
export type PriceLayer = (typeof PRICE_LAYERS)[number];

/** What a price is of that was made of a row and rules: the one of them that outranks the others. */
export function higherLayer(a: PriceLayer, b: PriceLayer): PriceLayer {
  return PRICE_LAYERS.find((layer) => layer === a || layer === b) ?? a;
}

/** The terms under which a token is billed. `any` is for prices that no tier changes (a web search). */
export const ROW_TIERS = ['standard', 'flex', 'priority', 'batch', 'any'] as const;
export type RowTier = (typeof ROW_TIERS)[number];

/** Hours of the week, in a fixed offset from UTC; `toMinute` is exclusive, and a window may pass midnight. */
export interface Calendar {
  readonly utcOffsetMinutes: number;
  /** ISO: 1 is Monday. */
  readonly weekdays: readonly number[];
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** The price holds for prompts of MORE than `overTokens` and AT MOST `upToTokens` tokens (cache included). */
export interface PromptTier {
  readonly overTokens: number;
  readonly upToTokens: number;
}

/** The price holds for pictures that were asked for so. Null among the values: for those who left it to the API. */
export interface PictureScope {
  readonly sizes: readonly (string | null)[];
  readonly qualities: readonly (string | null)[];
}

export interface PriceRow {
  /** Stable, readable, unique: stored with every line that used it. */
  readonly key: string;
  readonly layer: PriceLayer;
  readonly provider: ProviderName;
  readonly appliesTo: ModelTest;
  readonly serviceTier: RowTier;
  /** Inclusive; null: since ever. */
  readonly validFromMs: number | null;
  /** Exclusive; null: until further notice. */
  readonly validToMs: number | null;
  readonly calendar: Calendar | null;
  readonly promptTier: PromptTier | null;
  /** Null: for pictures of every kind. */
  readonly picture: PictureScope | null;
  /** Where it holds, in the names of `place.ts`; null: at the standard place, and of what is declared everywhere. */
  readonly places: readonly string[] | null;
  readonly unit: UsageClass;
  /** US dollars for `per` units. */
  readonly rate: Decimal;
  readonly per: number;
  readonly source: string;
  /** ISO date. */
  readonly checkedOn: string;
}

export const PER_MILLION = 1_000_000;
export const PER_THOUSAND = 1_000;
export const PER_MINUTE_OF_MS = 60_000;
export const PER_HOUR_OF_MS = 3_600_000;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

function isInCalendar(calendar: Calendar, atMs: number): boolean {
  const minutes = Math.floor(atMs / MINUTE_MS) + calendar.utcOffsetMinutes;
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

/** What was not asked for in a known way has no price of a kind. */
export function isForPictures(scope: PictureScope | null, asked: PicturesAsked | undefined): boolean {
  if (scope === null) return true;
  return asked !== undefined && scope.sizes.includes(asked.size) && scope.qualities.includes(asked.quality);
}

/** Does the row hold for a call at this time with a prompt of this size? Model and tier are matched elsewhere. */
export function isRowInForce(row: PriceRow, atMs: number, promptTokens: number): boolean {
  if (!isValidAt(row, atMs)) return false;
  if (row.calendar !== null && !isInCalendar(row.calendar, atMs)) return false;
  return (
    row.promptTier === null || (promptTokens > row.promptTier.overTokens && promptTokens <= row.promptTier.upToTokens)
  );
}
