/** How the overlay's rows are written down: one rate card gives several rows. No prices here. */
import type { ProviderName } from '../call-record.ts';
import { USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import { parseDecimal } from './decimal.ts';
import { createModelTest, type ModelMatch } from './model-match.ts';
import { type Calendar, PER_MILLION, PER_THOUSAND, type PriceRow, type PromptTier, type RowTier } from './price-row.ts';

export interface RateCard {
  /** Unique in the overlay. */
  readonly name: string;
  readonly provider: ProviderName;
  readonly match: ModelMatch;
  /** Decimal strings, USD for a million tokens or a thousand requests. */
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
  readonly serviceTier?: RowTier;
  /** ISO instants. */
  readonly from?: string;
  readonly to?: string;
  readonly calendar?: Calendar;
  readonly promptTier?: PromptTier;
  readonly source: string;
  readonly checkedOn: string;
}

/** Classes that count requests. No tier, batch, speed or place changes their price. */
export const REQUEST_CLASSES: readonly UsageClass[] = ['web_search_requests', 'web_fetch_requests'];

/** A model and its dated snapshots (`-2026-03-05`, `-20260305`), nothing else. */
export function matchSnapshots(model: string): ModelMatch {
  const escaped = model.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return { regex: `^${escaped}(-\\d{4}-?\\d{2}-?\\d{2})?$` };
}

export function readInstant(iso: string | undefined): number | null {
  return iso === undefined ? null : Date.parse(iso);
}

export function createRows(card: RateCard): readonly PriceRow[] {
  const appliesTo = createModelTest(card.match);
  return USAGE_CLASSES.flatMap((unit) => {
    const rate = card.rates[unit];
    if (rate === undefined) return [];
    const isRequest = REQUEST_CLASSES.includes(unit);
    const row: PriceRow = {
      key: `overlay/${card.name}/${unit}`,
      layer: 'overlay',
      provider: card.provider,
      appliesTo,
      serviceTier: isRequest ? 'any' : (card.serviceTier ?? 'standard'),
      validFromMs: readInstant(card.from),
      validToMs: readInstant(card.to),
      calendar: card.calendar ?? null,
      promptTier: card.promptTier ?? null,
      unit,
      rate: parseDecimal(rate),
      per: isRequest ? PER_THOUSAND : PER_MILLION,
      source: card.source,
      checkedOn: card.checkedOn,
    };
    return [row];
  });
}
