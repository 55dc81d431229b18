/** How the overlay's rows are written down: one rate card gives several rows. No prices here. */
import type { ProviderName } from '../call-record.ts';
import { COUNTED_CLASSES, USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
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
  /** Unique in the overlay. */
  readonly name: string;
  readonly provider: ProviderName;
  readonly match: ModelMatch;
  /** Decimal strings, USD for a million tokens or characters, a minute of sound, a thousand of everything else. */
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
  readonly serviceTier?: RowTier;
  /** ISO instants. */
  readonly from?: string;
  readonly to?: string;
  readonly calendar?: Calendar;
  readonly promptTier?: PromptTier;
  readonly picture?: PictureScope;
  /** Where it holds (`eu-west-2`, `us-gov`, `commercial`); left out: at the standard place. */
  readonly places?: readonly string[];
  readonly source: string;
  readonly checkedOn: string;
  /** Gives way to a catalogue of a later day that has a price of its own. */
  readonly fillsHole?: boolean;
}

/** A model and its dated snapshots (`-2026-03-05`, `-20260305`), nothing else. */
export function matchSnapshots(model: string): ModelMatch {
  const escaped = model.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return { regex: `^${escaped}(-\\d{4}-?\\d{2}-?\\d{2})?$` };
}

export function readInstant(iso: string | undefined): number | null {
  return iso === undefined ? null : Date.parse(iso);
}

function perOf(unit: UsageClass): number {
  if (unit === 'input_audio_ms') return PER_MINUTE_OF_MS;
  return COUNTED_CLASSES.includes(unit) && unit !== 'input_characters' ? PER_THOUSAND : PER_MILLION;
}

/** Of what is no token the standard price is that of all tiers. */
function tierOf({ serviceTier = 'standard' }: RateCard, isCounted: boolean): RowTier {
  return isCounted && serviceTier === 'standard' ? 'any' : serviceTier;
}

export function createRows(card: RateCard): readonly PriceRow[] {
  const appliesTo = createModelTest(card.match);
  return USAGE_CLASSES.flatMap((unit) => {
    const rate = card.rates[unit];
    if (rate === undefined) return [];
    const isCounted = COUNTED_CLASSES.includes(unit);
    const row: PriceRow = {
      key: `overlay/${card.name}/${unit}`,
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
      unit,
      rate: parseDecimal(rate),
      per: perOf(unit),
      source: card.source,
      checkedOn: card.checkedOn,
    };
    return [row];
  });
}
