/**
 * The rows of the overlay for a model, apart: those that outrank the catalogue in use, and those that give way to it.
 */
import type { ProviderName } from '../call-record.ts';
import { OVERLAY_RATE_CARDS } from './overlay-rate-cards.ts';
import { createRows, type RateCard } from './overlay-row.ts';
import type { PriceRow } from './price-row.ts';

export interface OverlayRows {
  /** Below the catalogue. */
  readonly yielding: readonly PriceRow[];
  /** Above it. */
  readonly standing: readonly PriceRow[];
}

/** A figure that only fills a hole is no better than one of a later day; a correction stands whatever comes later. */
function isYielding({ fillsHole, checkedOn }: RateCard, catalogDay: string): boolean {
  return fillsHole === true && checkedOn < catalogDay;
}

/** `catalogDay`: ISO date of the catalogue in use. The names are those that a model's prices may be declared under. */
export function createOverlayPrices(
  catalogDay: string,
): (provider: ProviderName, names: readonly string[]) => OverlayRows {
  const cards = Map.groupBy(
    OVERLAY_RATE_CARDS.map((card) => ({ provider: card.provider, card, rows: createRows(card) })),
    ({ provider }) => provider,
  );
  return (provider, names) => {
    const found = (cards.get(provider) ?? []).filter(({ rows }) => names.some((name) => rows[0]?.appliesTo(name)));
    const listRows = (yields: boolean) =>
      found.filter(({ card }) => isYielding(card, catalogDay) === yields).flatMap(({ rows }) => rows);
    return { yielding: listRows(true), standing: listRows(false) };
  };
}
