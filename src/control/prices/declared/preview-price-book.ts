/** The operator's prices as they would be after one change. Nothing is stored. */
import type { OperatorPrice, OperatorPrices, OperatorScope } from '../../../pricing/operator-prices.ts';
import type { Declaration, StoredDeclaration } from './declaration.ts';
import { addDeclaration } from './operator-declarations.ts';

/** A stand-in for the number of a declaration that is not stored; later numbers are higher. */
const FUTURE_ID = Number.MAX_SAFE_INTEGER;

export interface PriceEdit {
  readonly add: Declaration | null;
  readonly remove: Pick<StoredDeclaration, 'kind' | 'id'> | null;
}

type Keyed = OperatorScope & Partial<OperatorPrice>;

function keyOf({ provider, providerAlias, match, model, serviceTier, promptTier, validFromMs }: Keyed): string {
  return JSON.stringify([provider, providerAlias, match, model?.toLowerCase(), serviceTier, promptTier, validFromMs]);
}

/** The later of two with one key replaces the other, as when it is saved. */
function replaceSameKey<T extends Keyed>(entries: readonly T[]): readonly T[] {
  const lastId = new Map(entries.map((entry) => [keyOf(entry), entry.id]));
  return entries.filter((entry) => lastId.get(keyOf(entry)) === entry.id);
}

export function editPrices(before: OperatorPrices, { add, remove }: PriceEdit): OperatorPrices {
  const isLeft = (kind: Declaration['kind']) => (entry: OperatorScope) =>
    remove?.kind !== kind || remove.id !== entry.id;
  const left: OperatorPrices = {
    prices: before.prices.filter(isLeft('override')),
    mappings: before.mappings.filter(isLeft('mapping')),
    multipliers: before.multipliers.filter(isLeft('multiplier')),
  };
  if (add === null) return left;
  const { prices, mappings, multipliers } = addDeclaration(left, { ...add, id: FUTURE_ID });
  return {
    prices: replaceSameKey(prices),
    mappings: replaceSameKey(mappings),
    multipliers: replaceSameKey(multipliers),
  };
}
