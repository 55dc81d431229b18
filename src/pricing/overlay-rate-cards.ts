/** What the catalog lacks or has wrong. Of two cards in force for one class the later one counts. */
import { OVERLAY_DATA } from './overlay-data.ts';
import type { RateCard } from './overlay-row.ts';
import { type PriceData, readSourced } from './price-data.ts';

function toRateCard(data: PriceData, price: PriceData['prices'][number]): RateCard {
  const { tier, hours, prompt, pictures, places, rates } = price;
  return {
    ...readSourced(data, price),
    fillsHole: data.sources[price.source]?.fillsHoles,
    rates,
    serviceTier: tier,
    calendar: hours === undefined ? undefined : data.hours[hours],
    promptTier:
      prompt === undefined
        ? undefined
        : { overTokens: prompt.over ?? -1, upToTokens: prompt.upTo ?? Number.MAX_SAFE_INTEGER },
    picture: pictures,
    places,
  };
}

export const OVERLAY_RATE_CARDS: readonly RateCard[] = OVERLAY_DATA.flatMap((data) =>
  data.prices.map((price) => toRateCard(data, price)),
);
