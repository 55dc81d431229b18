/** All prices and rules of a model at one time, with those that are outranked or past, in the API's form. */
import { formatDecimal } from '../../../pricing/decimal.ts';
import type { CompiledRule } from '../../../pricing/model-prices.ts';
import type { FoundPrices, PriceBook } from '../../../pricing/price-book.ts';
import { type Calendar, isRowInForce, isValidAt, type PriceRow, type PromptTier } from '../../../pricing/price-row.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';

export interface RowQuestion {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly model: string;
  readonly at: Date;
}

interface ListedRule {
  readonly key: string;
  readonly kind: 'multiplier' | 'derivation' | 'alias' | 'mapping' | 'discount';
  readonly text: string;
  readonly source: string;
  /** ISO date; null for operators' declarations. */
  readonly checked_on: string | null;
  readonly in_force: boolean;
}

const TERMS = {
  serviceTier: 'service tier',
  speed: 'speed',
  inferenceGeo: 'inference geo',
  place: 'served at',
} as const;

/** As in `class-rate.ts`: the last row for the tier or for any. */
function isRowUsed(row: PriceRow, rows: readonly PriceRow[], atMs: number): boolean {
  const smallestPrompt = (row.promptTier?.overTokens ?? -1) + 1;
  const last = rows.findLast(
    (other) =>
      other.usageClass === row.usageClass &&
      (other.serviceTier === row.serviceTier || other.serviceTier === 'any') &&
      (other.layer === 'override' || other.places?.join() === row.places?.join()) &&
      isRowInForce(other, atMs, smallestPrompt),
  );
  return last === row;
}

function formatInstant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function formatMinute(minute: number): string {
  return new Date(minute * 60_000).toISOString().slice(11, 16);
}

function formatCalendar({ utcOffsetMinutes, weekdays, fromMinute, toMinute }: Calendar) {
  return {
    utc_offset_minutes: utcOffsetMinutes,
    weekdays: [...weekdays],
    from: formatMinute(fromMinute),
    to: formatMinute(toMinute),
  };
}

function formatPromptTier({ overTokens, upToTokens }: PromptTier) {
  return {
    over_tokens: overTokens < 0 ? null : overTokens,
    up_to_tokens: upToTokens === Number.MAX_SAFE_INTEGER ? null : upToTokens,
  };
}

function formatRow(row: PriceRow, isInForce: boolean) {
  return {
    key: row.key,
    layer: row.layer,
    unit: row.usageClass,
    service_tier: row.serviceTier,
    rate: formatDecimal(row.rate),
    per: row.per,
    valid_from: formatInstant(row.validFromMs),
    valid_to: formatInstant(row.validToMs),
    calendar: row.calendar === null ? null : formatCalendar(row.calendar),
    prompt_tier: row.promptTier === null ? null : formatPromptTier(row.promptTier),
    places: row.places === null ? null : [...row.places],
    source: row.source,
    checked_on: row.checkedOn === '' ? null : row.checkedOn,
    /** True when a call at that time, on the row's terms and prompt length, is priced by it. */
    in_force: isInForce,
  };
}

function listRules(model: string, found: FoundPrices, atMs: number): ListedRule[] {
  const { billingModel, mapping, rename, discount, prices } = found;
  const ofOperator = (kind: ListedRule['kind'], { key }: { readonly key: string }, text: string): ListedRule => ({
    key,
    kind,
    text,
    source: 'declared by the operator',
    checked_on: null,
    in_force: true,
  });
  const ofOverlay = (kind: ListedRule['kind'], rule: CompiledRule, text: string): ListedRule => ({
    key: rule.key,
    kind,
    text,
    source: rule.source,
    checked_on: rule.checkedOn,
    in_force: isValidAt(rule, atMs),
  });
  return [
    ...(mapping === null ? [] : [ofOperator('mapping', mapping, `${model} is billed as ${mapping.billingModel}`)]),
    ...(rename === null ? [] : [ofOverlay('alias', rename, `${billingModel} is served by ${rename.model}`)]),
    ...prices.multipliers.map((rule) =>
      ofOverlay(
        'multiplier',
        rule,
        `${TERMS[rule.term]} ${rule.value}: × ${formatDecimal(rule.factor)} on ${rule.units.join(', ')}`,
      ),
    ),
    ...prices.derivations.map((rule) =>
      ofOverlay(
        'derivation',
        rule,
        `${rule.units.join(', ')} without a rate: ${formatDecimal(rule.factor)} × ${rule.of}`,
      ),
    ),
    ...(discount === null ? [] : [ofOperator('discount', discount, `list prices × ${formatDecimal(discount.factor)}`)]),
  ];
}

export function listPriceRows(book: PriceBook, { provider, providerAlias, model, at }: RowQuestion) {
  const atMs = at.getTime();
  const found = book.findPrices({ provider, providerAlias, atMs }, model);
  const { rows } = found.prices;
  return {
    billing_model: found.billingModel,
    rows: rows.map((row) => formatRow(row, isRowUsed(row, rows, atMs))),
    rules: listRules(model, found, atMs),
  };
}
