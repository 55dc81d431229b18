/**
 * What another catalogue would change: models that it adds and loses, and rates that differ, by the names that calls use.
 * It compares and does not judge; the overlay and the operator's prices are not looked at, since they stay as they are.
 */
import type { MatchLogic } from '@pydantic/genai-prices';
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import { CATALOG_PROVIDER_IDS, type CatalogData, type CatalogModel, createCatalog } from '../pricing/catalog.ts';
import type { Decimal } from '../pricing/decimal.ts';
import { isRowInForce, type PriceRow } from '../pricing/price-row.ts';
import type { UsageClass } from '../token-usage.ts';

export interface NamedModel {
  readonly provider: ProviderName;
  readonly model: string;
}

export interface RateChange extends NamedModel {
  readonly unit: UsageClass;
  /** USD for `per`; null: no price. */
  readonly before: Decimal | null;
  readonly after: Decimal | null;
  readonly per: number;
  /** Where it does not hold at all times and for all prompts. */
  readonly fromMs: number | null;
  readonly overTokens: number | null;
}

export interface CatalogChanges {
  readonly added: readonly NamedModel[];
  /** Not found any more, or without a price for the input or the output that had one. */
  readonly lost: readonly NamedModel[];
  readonly rates: readonly RateChange[];
  /** Of the catalogue before. */
  readonly modelsBefore: Readonly<Record<ProviderName, number>>;
}

/** A circumstance in which rates are compared; together they stand for every one. */
export interface PricePoint {
  readonly atMs: number;
  readonly promptTokens: number;
  /** Null for the first of its kind. */
  readonly fromMs: number | null;
  readonly overTokens: number | null;
}

/** Before every dated price. */
const LONG_AGO_MS = Date.UTC(2000, 0);
const MINUTE_MS = 60_000;

/** One circumstance on each side of every boundary that the rows have: dates, hours of the day, sizes of the prompt. */
export function listPricePoints(rows: readonly PriceRow[]): readonly PricePoint[] {
  const dates = rows.flatMap(({ validFromMs, validToMs }) => [validFromMs, validToMs]).filter((ms) => ms !== null);
  const days = [null, ...[...new Set(dates)].sort((a, b) => a - b)];
  const minutes = new Set([0, ...rows.flatMap(({ calendar: c }) => (c === null ? [] : [c.fromMinute, c.toMinute]))]);
  const sizes = [null, ...new Set(rows.map(({ promptTier }) => promptTier?.overTokens ?? -1).filter((n) => n >= 0))];
  return days.flatMap((fromMs) =>
    [...minutes].flatMap((minute) =>
      sizes.map((overTokens) => ({
        atMs: (fromMs ?? LONG_AGO_MS) + minute * MINUTE_MS,
        promptTokens: (overTokens ?? -1) + 1,
        fromMs,
        overTokens,
      })),
    ),
  );
}

export function findRow(rows: readonly PriceRow[], unit: UsageClass, point: PricePoint): PriceRow | null {
  return rows.findLast((row) => row.unit === unit && isRowInForce(row, point.atMs, point.promptTokens)) ?? null;
}

/** The names that a rule spells out, whole or in part: what calls are found by. */
function listNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listNames);
  if ('and' in match) return match.and.flatMap(listNames);
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match) return [match.starts_with];
  if ('ends_with' in match) return [match.ends_with];
  if ('contains' in match) return [match.contains];
  return [];
}

/** The catalogue's one price of a cache write is for two classes; this is the one that the provider does not have. */
export function isRepeated(provider: ProviderName, unit: UsageClass): boolean {
  return unit === (provider === 'openai' ? 'cache_creation_5m' : 'cache_creation_30m');
}

function compareRates(named: NamedModel, before: readonly PriceRow[], after: readonly PriceRow[]): RateChange[] {
  const points = listPricePoints([...before, ...after]);
  const units = new Set([...before, ...after].map(({ unit }) => unit));
  const changes = new Map<string, RateChange>();
  for (const unit of units) {
    if (isRepeated(named.provider, unit)) continue;
    for (const point of points) {
      const old = findRow(before, unit, point);
      const now = findRow(after, unit, point);
      if (old?.rate === now?.rate) continue;
      const { fromMs, overTokens } = point;
      const rates = { before: old?.rate ?? null, after: now?.rate ?? null, per: (old ?? now)?.per ?? 1 };
      const key = `${unit} ${rates.before} ${rates.after}`;
      if (!changes.has(key)) changes.set(key, { ...named, unit, ...rates, fromMs, overTokens });
    }
  }
  return [...changes.values()];
}

/** The two that every call of a model of text has. */
function isLostRate({ unit, before, after }: RateChange): boolean {
  return (unit === 'input' || unit === 'output') && before !== null && after === null;
}

export function compareCatalogs(current: CatalogData, candidate: CatalogData): CatalogChanges {
  const [before, after] = [createCatalog(current), createCatalog(candidate)];
  const added: NamedModel[] = [];
  const lost: NamedModel[] = [];
  const rates: RateChange[] = [];
  const modelsBefore = { openai: 0, anthropic: 0, gemini: 0, bedrock: 0, fireworks: 0, together: 0, deepseek: 0 };

  /** The names of the provider's models in a catalogue that lead to their own model there. */
  function* listOwnNames(data: CatalogData, provider: ProviderName): Generator<readonly [CatalogModel, string]> {
    const catalog = data === current ? before : after;
    const models = data.findProvider(CATALOG_PROVIDER_IDS[provider])?.models ?? [];
    for (const { id, match } of models)
      for (const name of new Set([id, ...listNames(match)])) {
        const found = catalog.findModel(provider, name);
        if (found?.id === id) yield [found, name];
      }
  }

  for (const provider of PROVIDER_NAMES) {
    const seen = new Set<string>();
    const isKept = new Map<string, boolean>();
    for (const [model, name] of listOwnNames(current, provider)) {
      const found = after.findModel(provider, name);
      const pair = `${model.id}\n${found?.id}`;
      if (!isKept.has(model.id)) isKept.set(model.id, false);
      if (found === undefined || seen.has(pair)) continue;
      seen.add(pair);
      const changes = compareRates({ provider, model: model.id }, model.rows(), found.rows());
      rates.push(...changes);
      if (!changes.some(isLostRate)) isKept.set(model.id, true);
    }
    modelsBefore[provider] = isKept.size;
    for (const [model, kept] of isKept) if (!kept) lost.push({ provider, model });

    const isNew = new Map<string, boolean>();
    for (const [model, name] of listOwnNames(candidate, provider))
      isNew.set(model.id, (isNew.get(model.id) ?? true) && before.findModel(provider, name) === undefined);
    for (const [model, isAdded] of isNew) if (isAdded) added.push({ provider, model });
  }
  return { added, lost, rates, modelsBefore };
}
