/**
 * The prices of `price-data/`: what the catalogue lacks or has wrong. Of two cards in force for one class the later one
 * in its file counts. Rules that hold for many models are in `overlay-rules.ts`.
 */
import { OVERLAY_DATA } from './overlay-data.ts';
import type { RateCard } from './overlay-row.ts';
import { type PriceData, readSourced } from './price-data.ts';

const EVERY_PROMPT = { overTokens: -1, upToTokens: Number.MAX_SAFE_INTEGER } as const;

function toRateCard(data: PriceData, price: PriceData['prices'][number]): RateCard {
  const { tier, hours, prompt, pictures, places, rates } = price;
  const calendar = hours === undefined ? undefined : data.hours[hours];
  return {
    ...readSourced(data, price),
    ...(data.sources[price.source]?.fillsHoles === true ? { fillsHole: true } : {}),
    rates,
    ...(tier === undefined ? {} : { serviceTier: tier }),
    ...(calendar === undefined ? {} : { calendar }),
    ...(prompt === undefined
      ? {}
      : {
          promptTier: {
            overTokens: prompt.over ?? EVERY_PROMPT.overTokens,
            upToTokens: prompt.upTo ?? EVERY_PROMPT.upToTokens,
          },
        }),
    ...(pictures === undefined ? {} : { picture: pictures }),
    ...(places === undefined ? {} : { places }),
  };
}

export const OVERLAY_RATE_CARDS: readonly RateCard[] = OVERLAY_DATA.flatMap((data) =>
  data.prices.map((price) => toRateCard(data, price)),
);
