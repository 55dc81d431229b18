/** What `price-data/` says of models beside their prices: why one has none, and why its price is not what lists say. */
import type { ProviderName } from '../call-record.ts';
import { createModelTest } from './model-match.ts';
import { OVERLAY_DATA } from './overlay-data.ts';
import { readSourced } from './price-data.ts';

export interface NotedModel {
  /** Why it has no price; null where it has one or nobody has said. */
  readonly withoutPrice: string | null;
  /** Why its price differs from that of public catalogues. */
  readonly settled: string | null;
}

const NOTES = OVERLAY_DATA.flatMap((data) =>
  (['withoutPrice', 'settled'] as const).flatMap((kind) =>
    data[kind].map((note) => {
      const { match } = readSourced(data, note);
      return { provider: data.provider, kind, reason: note.reason, appliesTo: createModelTest(match) };
    }),
  ),
);

export function findNotedModel(provider: ProviderName, model: string): NotedModel | null {
  const reasonOf = (kind: 'withoutPrice' | 'settled') =>
    NOTES.find((note) => note.provider === provider && note.kind === kind && note.appliesTo(model))?.reason ?? null;
  const [withoutPrice, settled] = [reasonOf('withoutPrice'), reasonOf('settled')];
  return withoutPrice === null && settled === null ? null : { withoutPrice, settled };
}
