/** Expands rate cards into the overlay's price rows. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import { COUNTED_CLASSES, USAGE_CLASSES, type UsageClass } from '../vocabulary/token-usage.ts';
import { parseDecimal } from './decimal.ts';
import { createModelTest, type ModelMatch } from './model-match.ts';
import {
  type Calendar,
  PER_MILLION,
  PER_MINUTE_OF_MS,
  PER_THOUSAND,
  type PictureScope,
  type PriceRow,
  type PromptTier,
  type RowTier,
} from './price-row.ts';

export interface RateCard {
  readonly name: string;
  readonly provider: ProviderName;
  readonly match: ModelMatch;
  /** Decimal strings, USD for a million tokens or characters, a minute of sound, or a thousand of anything else. */
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
  readonly serviceTier?: RowTier | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly calendar?: Calendar | undefined;
  readonly promptTier?: PromptTier | undefined;
  readonly picture?: PictureScope | undefined;
  /** E.g. `eu-west-2`, `us-gov`, `commercial`; absent: the standard place. */
  readonly places?: readonly string[] | undefined;
  readonly source: string;
  readonly checkedOn: string;
  /** Yields to a later catalog that has its own price. */
  readonly fillsHole?: boolean | undefined;
}

/** A model and its dated snapshots (`-2026-03-05`, `-20260305`) only. */
export function matchSnapshots(model: string): ModelMatch {
  const escaped = model.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return { regex: `^${escaped}(-\\d{4}-?\\d{2}-?\\d{2})?$` };
}

export function readInstant(iso: string | undefined): number | null {
  return iso === undefined ? null : Date.parse(iso);
}

function perOf(usageClass: UsageClass): number {
  if (usageClass === 'input_audio_ms') return PER_MINUTE_OF_MS;
  return COUNTED_CLASSES.includes(usageClass) && usageClass !== 'input_characters' ? PER_THOUSAND : PER_MILLION;
}

/** What is not a token costs its standard price in every tier. */
function tierOf({ serviceTier = 'standard' }: RateCard, isCounted: boolean): RowTier {
  return isCounted && serviceTier === 'standard' ? 'any' : serviceTier;
}

export function createRows(card: RateCard): readonly PriceRow[] {
  const appliesTo = createModelTest(card.match);
  return USAGE_CLASSES.flatMap((usageClass) => {
    const rate = card.rates[usageClass];
    if (rate === undefined) return [];
    const isCounted = COUNTED_CLASSES.includes(usageClass);
    const row: PriceRow = {
      key: `overlay/${card.name}/${usageClass}`,
      layer: 'overlay',
      provider: card.provider,
      appliesTo,
      serviceTier: tierOf(card, isCounted),
      validFromMs: readInstant(card.from),
      validToMs: readInstant(card.to),
      calendar: card.calendar ?? null,
      promptTier: card.promptTier ?? null,
      picture: card.picture ?? null,
      places: card.places ?? null,
      usageClass,
      rate: parseDecimal(rate),
      per: perOf(usageClass),
      source: card.source,
      checkedOn: card.checkedOn,
    };
    return [row];
  });
}
