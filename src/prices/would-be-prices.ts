/** The operator's prices as they would be after one change, for a look at what it would do. Pure; nothing is stored. */
import type { OperatorPrice, OperatorPrices, OperatorScope } from '../pricing/operator-prices.ts';
import type { Declaration, DeclarationKind } from './declaration.ts';
import { toOperatorMapping, toOperatorMultiplier, toOperatorPrice } from './to-operator-prices.ts';

/** What is not stored has no number yet; a later one is higher. */
const FUTURE_ID = Number.MAX_SAFE_INTEGER;

export interface PriceEdit {
  readonly add: Declaration | null;
  readonly remove: { readonly kind: DeclarationKind; readonly id: number } | null;
}

type Keyed = OperatorScope & Partial<OperatorPrice>;

/** Of two with the same key the new one takes the other's place, as when it is saved. */
function hasOtherKey(a: Keyed): (b: Keyed) => boolean {
  const keyOf = ({ provider, providerAlias, match, model, serviceTier, promptTier, validFromMs }: Keyed) =>
    JSON.stringify([provider, providerAlias, match, model?.toLowerCase(), serviceTier, promptTier, validFromMs]);
  const key = keyOf(a);
  return (b) => keyOf(b) !== key;
}

function withDeclaration(prices: OperatorPrices, declaration: Declaration): OperatorPrices {
  switch (declaration.kind) {
    case 'override': {
      const price = toOperatorPrice({ ...declaration, id: FUTURE_ID });
      return { ...prices, prices: [...prices.prices.filter(hasOtherKey(price)), price] };
    }
    case 'mapping': {
      const mapping = toOperatorMapping({ ...declaration, id: FUTURE_ID });
      return { ...prices, mappings: [...prices.mappings.filter(hasOtherKey(mapping)), mapping] };
    }
    case 'multiplier': {
      const multiplier = toOperatorMultiplier({ ...declaration, id: FUTURE_ID });
      return { ...prices, multipliers: [...prices.multipliers.filter(hasOtherKey(multiplier)), multiplier] };
    }
  }
}

function without<T extends { readonly id: number }>(entries: readonly T[], id: number): readonly T[] {
  return entries.filter((entry) => entry.id !== id);
}

function withoutDeclaration(prices: OperatorPrices, kind: DeclarationKind, id: number): OperatorPrices {
  switch (kind) {
    case 'override':
      return { ...prices, prices: without(prices.prices, id) };
    case 'mapping':
      return { ...prices, mappings: without(prices.mappings, id) };
    case 'multiplier':
      return { ...prices, multipliers: without(prices.multipliers, id) };
  }
}

export function editPrices(prices: OperatorPrices, { add, remove }: PriceEdit): OperatorPrices {
  const left = remove === null ? prices : withoutDeclaration(prices, remove.kind, remove.id);
  return add === null ? left : withDeclaration(left, add);
}
