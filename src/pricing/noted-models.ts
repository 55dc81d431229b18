/** The notes of `price-data/`: why a model has no price, or not the listed one. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import { createModelTest } from './model-match.ts';
import { OVERLAY_DATA } from './overlay-data.ts';
import { readSourced } from './price-data.ts';

export interface NotedModel {
  readonly withoutPrice: string | null;
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
