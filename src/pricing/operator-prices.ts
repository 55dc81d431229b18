/** Compiles operators' prices, mappings and discounts, which outrank all others, to rows and rules. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { UsageClass } from '../vocabulary/token-usage.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { createModelTest, type ModelMatch } from './model-match.ts';
import { createRows } from './overlay-row.ts';
import { isValidAt, minuteOf, type PriceRow, type PromptTier, type RowTier } from './price-row.ts';

/** `exact`: the whole id, in any case. `prefix`: every id that begins so. */
export const MATCH_KINDS = ['exact', 'prefix'] as const;
export type MatchKind = (typeof MATCH_KINDS)[number];

export interface OperatorScope {
  readonly id: number;
  readonly provider: ProviderName;
  /** Only calls with this `X-Gateway-Provider-Alias`; null: all calls of the provider. */
  readonly providerAlias: string | null;
  /** Inclusive; null: no start. */
  readonly validFromMs: number | null;
  /** Exclusive; null: no end. */
  readonly validToMs: number | null;
}

export interface OperatorPrice extends OperatorScope {
  readonly match: MatchKind;
  readonly model: string;
  readonly serviceTier: RowTier;
  readonly promptTier: PromptTier | null;
  /** Decimal USD for a million tokens, a minute of sound, or a thousand of anything else. */
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
}

export interface OperatorMapping extends OperatorScope {
  readonly match: MatchKind;
  readonly model: string;
  readonly billingModel: string;
}

/** A factor on list prices: 0.85 for 15 % off. Own prices are not multiplied. */
export interface OperatorMultiplier extends OperatorScope {
  readonly factor: string;
}

export interface OperatorPrices {
  readonly prices: readonly OperatorPrice[];
  readonly mappings: readonly OperatorMapping[];
  readonly multipliers: readonly OperatorMultiplier[];
}

export const NO_OPERATOR_PRICES: OperatorPrices = { prices: [], mappings: [], multipliers: [] };

export interface DeclaredFor {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly atMs: number;
}

export interface Discount {
  readonly key: string;
  readonly factor: Decimal;
  /** Declared for the call's alias: its upstream has list prices times the factor. */
  readonly isForAlias: boolean;
}

export interface MappedModel {
  readonly key: string;
  readonly billingModel: string;
}

export interface CompiledOperatorPrices {
  readonly findMapping: (call: DeclaredFor, model: string) => MappedModel | null;
  /** By rising precedence, at all times. */
  readonly listRows: (call: DeclaredFor, model: string) => readonly PriceRow[];
  readonly findDiscount: (call: DeclaredFor) => Discount | null;
  /** No declaration names an alias, so a model's rows are equal under all of them. */
  readonly ignoresAliases: boolean;
  /** Minutes in whose middle something begins or ends to hold. */
  readonly unsteadyMinutes: ReadonlySet<number>;
}

/** A declared prefix matches any continuation, version numbers too. */
function toMatch({ match, model }: Pick<OperatorPrice, 'match' | 'model'>): ModelMatch {
  return match === 'exact' ? { equals: model } : { prefix: model };
}

type Ranked = OperatorScope & Partial<OperatorPrice>;

/** Narrower bounds rank higher, so that a change of the plain price leaves the others. */
function rankOfSizes({ promptTier }: Partial<OperatorPrice>): number {
  return promptTier == null ? Number.NEGATIVE_INFINITY : promptTier.overTokens - promptTier.upToTokens;
}

function rankOf(entry: Ranked): readonly number[] {
  return [
    entry.providerAlias === null ? 0 : 1,
    entry.match === 'prefix' ? 0 : 1,
    entry.model?.length ?? 0,
    rankOfSizes(entry),
    entry.serviceTier === 'any' ? 0 : 1,
    entry.validFromMs ?? Number.NEGATIVE_INFINITY,
    entry.id,
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, rankOfA] of a.entries()) {
    const rankOfB = b[index] ?? 0;
    if (rankOfA !== rankOfB) return rankOfA < rankOfB ? -1 : 1;
  }
  return 0;
}

/** Rising: alias, exact, longer prefix, prompt bounds, tier, later start, each over its absence. */
function sortByPrecedence<T extends Ranked>(entries: readonly T[]): readonly T[] {
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ entry }) => entry);
}

function isFor(entry: OperatorScope, { provider, providerAlias }: DeclaredFor): boolean {
  return entry.provider === provider && (entry.providerAlias === null || entry.providerAlias === providerAlias);
}

/** The most specific comes last. Exact ids are looked up, since there may be thousands. */
function createLookUp<T extends OperatorPrice | OperatorMapping>(
  entries: readonly T[],
): (call: DeclaredFor, model: string) => readonly T[] {
  const sorted = sortByPrecedence(entries);
  const exact = Map.groupBy(
    sorted.filter(({ match }) => match === 'exact'),
    ({ model }) => model.toLowerCase(),
  );
  const prefixes = sorted
    .filter(({ match }) => match === 'prefix')
    .map((entry) => ({ entry, appliesTo: createModelTest(toMatch(entry)) }));
  return (call, model) =>
    sortByPrecedence(
      [
        ...prefixes.filter(({ appliesTo }) => appliesTo(model)).map(({ entry }) => entry),
        ...(exact.get(model.toLowerCase()) ?? []),
      ].filter((entry) => isFor(entry, call)),
    );
}

function createPriceRows(price: OperatorPrice): readonly PriceRow[] {
  const rows = createRows({
    name: `${price.provider}/${price.model}#${price.id}`,
    provider: price.provider,
    match: toMatch(price),
    rates: price.rates,
    serviceTier: price.serviceTier,
    ...(price.promptTier === null ? {} : { promptTier: price.promptTier }),
    source: 'declared by the operator',
    checkedOn: '',
  });
  const { validFromMs, validToMs } = price;
  return rows.map((row) => ({
    ...row,
    key: `override/${row.key.slice('overlay/'.length)}`,
    layer: 'override',
    validFromMs,
    validToMs,
  }));
}

export function compileOperatorPrices({ prices, mappings, multipliers }: OperatorPrices): CompiledOperatorPrices {
  // Compiled on demand: of thousands of prices most are for models that are not called.
  const rows = new Map<OperatorPrice, readonly PriceRow[]>();
  const rowsOf = (price: OperatorPrice): readonly PriceRow[] => {
    const made = rows.get(price) ?? createPriceRows(price);
    rows.set(price, made);
    return made;
  };
  const findPrices = createLookUp(prices);
  const findMappings = createLookUp(mappings);
  const discounts = sortByPrecedence(multipliers);
  const instants = [...prices, ...mappings, ...multipliers].flatMap(({ validFromMs, validToMs }) => [
    validFromMs ?? [],
    validToMs ?? [],
  ]);
  return {
    unsteadyMinutes: new Set(instants.flat().map(minuteOf)),
    ignoresAliases: prices.every(({ providerAlias }) => providerAlias === null),
    findMapping: (call, model) => {
      const found = findMappings(call, model).findLast((entry) => isValidAt(entry, call.atMs));
      if (found === undefined) return null;
      return { key: `override/${found.provider}/mapping#${found.id}`, billingModel: found.billingModel };
    },
    listRows: (call, model) => findPrices(call, model).flatMap(rowsOf),
    findDiscount: (call) => {
      const found = discounts.findLast((entry) => isFor(entry, call) && isValidAt(entry, call.atMs));
      if (found === undefined) return null;
      return {
        key: `override/${found.provider}/discount#${found.id}`,
        factor: parseDecimal(found.factor),
        isForAlias: found.providerAlias !== null,
      };
    },
  };
}
