/** All prices and rules of one model at one time, for people: which of them count, and which are outranked or past. */
import type { ProviderName } from '../call-record.ts';
import { formatDecimal } from '../pricing/decimal.ts';
import type { FoundPrices, PriceBook } from '../pricing/price-book.ts';
import { isRowInForce, isValidAt, type PriceRow } from '../pricing/price-row.ts';

export interface RowQuestion {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly model: string;
  readonly at: Date;
}

export interface ListedRow {
  readonly row: PriceRow;
  /** A call of that time, on the row's own terms and with a prompt of its size, is priced by it. */
  readonly isInForce: boolean;
}

export interface ListedRule {
  readonly key: string;
  readonly kind: 'multiplier' | 'derivation' | 'alias' | 'mapping' | 'discount';
  /** In words. */
  readonly text: string;
  readonly source: string;
  /** ISO date; null for what the operator declares. */
  readonly checkedOn: string | null;
  readonly isInForce: boolean;
}

export interface ListedPrices {
  readonly billingModel: string;
  readonly rows: readonly ListedRow[];
  readonly rules: readonly ListedRule[];
}

const DECLARED = { source: 'declared by the operator', checkedOn: null, isInForce: true } as const;
const TERMS = {
  serviceTier: 'service tier',
  speed: 'speed',
  inferenceGeo: 'inference geo',
  place: 'served at',
} as const;

/** The smallest prompt that the row is for. */
function smallestPrompt({ promptTier }: PriceRow): number {
  return promptTier === null ? 0 : promptTier.overTokens + 1;
}

/** As prices are chosen (`class-rate.ts`): of those for the row's tier and those for any, the last one. */
function isRowUsed(row: PriceRow, rows: readonly PriceRow[], atMs: number): boolean {
  const tokens = smallestPrompt(row);
  const last = rows.findLast(
    (other) =>
      other.unit === row.unit &&
      (other.serviceTier === row.serviceTier || other.serviceTier === 'any') &&
      (other.layer === 'override' || other.places?.join() === row.places?.join()) &&
      isRowInForce(other, atMs, tokens),
  );
  return last === row;
}

function listRules(model: string, found: FoundPrices, atMs: number): readonly ListedRule[] {
  const { mapping, alias, discount, prices } = found;
  return [
    ...(mapping === null
      ? []
      : [
          {
            ...DECLARED,
            key: mapping.key,
            kind: 'mapping' as const,
            text: `${model} is billed as ${mapping.billingModel}`,
          },
        ]),
    ...(alias === null
      ? []
      : [
          {
            ...{ key: alias.key, kind: 'alias' as const, text: `${found.billingModel} is served by ${alias.model}` },
            ...{ source: alias.source, checkedOn: alias.checkedOn, isInForce: true },
          },
        ]),
    ...prices.multipliers.map((rule) => ({
      ...{ key: rule.key, kind: 'multiplier' as const, source: rule.source, checkedOn: rule.checkedOn },
      text: `${TERMS[rule.term]} ${rule.value}: × ${formatDecimal(rule.factor)} on ${rule.units.join(', ')}`,
      isInForce: isValidAt(rule, atMs),
    })),
    ...prices.derivations.map((rule) => ({
      ...{ key: rule.key, kind: 'derivation' as const, source: rule.source, checkedOn: rule.checkedOn },
      text: `${rule.units.join(', ')} without a rate: ${formatDecimal(rule.factor)} × ${rule.of}`,
      isInForce: isValidAt(rule, atMs),
    })),
    ...(discount === null
      ? []
      : [
          {
            ...{ ...DECLARED, key: discount.key, kind: 'discount' as const },
            text: `list prices × ${formatDecimal(discount.factor)}`,
          },
        ]),
  ];
}

export function listPriceRows(book: PriceBook, { provider, providerAlias, model, at }: RowQuestion): ListedPrices {
  const atMs = at.getTime();
  const found = book.findPrices({ provider, providerAlias, atMs }, model);
  const { rows } = found.prices;
  return {
    billingModel: found.billingModel,
    rows: rows.map((row) => ({ row, isInForce: isRowUsed(row, rows, atMs) })),
    rules: listRules(model, found, atMs),
  };
}
