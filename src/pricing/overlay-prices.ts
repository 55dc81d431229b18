/** A model's overlay rows: those that outrank the catalog in use, and those that yield to it. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import { OVERLAY_RATE_CARDS } from './overlay-rate-cards.ts';
import { createRows, type RateCard } from './overlay-row.ts';
import type { PriceRow } from './price-row.ts';

export interface OverlayRows {
  readonly yielding: readonly PriceRow[];
  readonly standing: readonly PriceRow[];
}

/** A price that fills a hole yields to a later catalog; a correction stands. */
function isYielding({ fillsHole, checkedOn }: RateCard, catalogDay: string): boolean {
  return fillsHole === true && checkedOn < catalogDay;
}

/** The days of the prices that yield to a catalog of this day: as long as they are the same, so are all prices. */
export function listYieldingDays(catalogDay: string): readonly string[] {
  const days = OVERLAY_RATE_CARDS.filter((card) => isYielding(card, catalogDay)).map(({ checkedOn }) => checkedOn);
  return [...new Set(days)].sort();
}

type Cards = ReadonlyMap<ProviderName, readonly { readonly card: RateCard; readonly rows: readonly PriceRow[] }[]>;

let compiled: Cards | null = null;

/** Once for all books: each account with prices of its own has one. */
function compileCards(): Cards {
  compiled ??= Map.groupBy(
    OVERLAY_RATE_CARDS.map((card) => ({ provider: card.provider, card, rows: createRows(card) })),
    ({ provider }) => provider,
  );
  return compiled;
}

/** `catalogDay` is an ISO date. The names are those under which prices may be declared. */
export function createOverlayPrices(
  catalogDay: string,
): (provider: ProviderName, names: readonly string[]) => OverlayRows {
  const cards = compileCards();
  return (provider, names) => {
    const found = (cards.get(provider) ?? []).filter(({ rows }) => names.some((name) => rows[0]?.appliesTo(name)));
    const listRows = (yields: boolean) =>
      found.filter(({ card }) => isYielding(card, catalogDay) === yields).flatMap(({ rows }) => rows);
    return { yielding: listRows(true), standing: listRows(false) };
  };
}
