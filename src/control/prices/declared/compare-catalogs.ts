/** What another catalog would change: models added and lost, and differing rates. */
import type { MatchLogic } from '@pydantic/genai-prices';
import { type CatalogData, type CatalogModel, createCatalog, isRepeated } from '../../../pricing/catalog.ts';
import type { Decimal } from '../../../pricing/decimal.ts';
import { isRowInForce, type PriceRow } from '../../../pricing/price-row.ts';
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../../providers/registry.ts';
import type { UsageClass } from '../../../vocabulary/token-usage.ts';

export interface NamedModel {
  readonly provider: ProviderName;
  readonly model: string;
}

export interface RateChange extends NamedModel {
  readonly usageClass: UsageClass;
  /** USD for `per`; null: no price. */
  readonly before: Decimal | null;
  readonly after: Decimal | null;
  readonly per: number;
  readonly fromMs: number | null;
  readonly overTokens: number | null;
}

export interface CatalogChanges {
  readonly added: readonly NamedModel[];
  /** Missing, or without an input or output price that it had. */
  readonly lost: readonly NamedModel[];
  readonly rates: readonly RateChange[];
  readonly modelsBefore: Readonly<Partial<Record<ProviderName, number>>>;
}

/** A case in which rates are compared; together they cover every case. */
export interface PricePoint {
  readonly atMs: number;
  readonly promptTokens: number;
  readonly fromMs: number | null;
  readonly overTokens: number | null;
}

const LONG_AGO_MS = Date.UTC(2000, 0);
const MINUTE_MS = 60_000;

/** One case on each side of every boundary: dates, hours, prompt lengths. */
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

export function findRow(rows: readonly PriceRow[], usageClass: UsageClass, point: PricePoint): PriceRow | null {
  return (
    rows.findLast((row) => row.usageClass === usageClass && isRowInForce(row, point.atMs, point.promptTokens)) ?? null
  );
}

/** The names that a rule spells out, whole or in part. */
function listNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(listNames);
  if ('and' in match) return match.and.flatMap(listNames);
  if ('equals' in match) return [match.equals];
  if ('starts_with' in match) return [match.starts_with];
  if ('ends_with' in match) return [match.ends_with];
  if ('contains' in match) return [match.contains];
  return [];
}

function compareRates(named: NamedModel, before: readonly PriceRow[], after: readonly PriceRow[]): RateChange[] {
  const points = listPricePoints([...before, ...after]);
  const units = new Set([...before, ...after].map(({ usageClass }) => usageClass));
  const changes = new Map<string, RateChange>();
  for (const usageClass of units) {
    if (isRepeated(named.provider, usageClass)) continue;
    for (const point of points) {
      const old = findRow(before, usageClass, point);
      const now = findRow(after, usageClass, point);
      if (old?.rate === now?.rate) continue;
      const { fromMs, overTokens } = point;
      const rates = { before: old?.rate ?? null, after: now?.rate ?? null, per: (old ?? now)?.per ?? 1 };
      const key = `${usageClass} ${rates.before} ${rates.after}`;
      if (!changes.has(key)) changes.set(key, { ...named, usageClass, ...rates, fromMs, overTokens });
    }
  }
  return [...changes.values()];
}

function isLostRate({ usageClass, before, after }: RateChange): boolean {
  return (usageClass === 'input' || usageClass === 'output') && before !== null && after === null;
}

export function compareCatalogs(current: CatalogData, candidate: CatalogData): CatalogChanges {
  const [before, after] = [createCatalog(current), createCatalog(candidate)];
  const added: NamedModel[] = [];
  const lost: NamedModel[] = [];
  const rates: RateChange[] = [];
  const modelsBefore: Partial<Record<ProviderName, number>> = {};

  /** Model names of the provider that lead to their own model in the catalog. */
  function* listOwnNames(data: CatalogData, provider: ProviderName): Generator<readonly [CatalogModel, string]> {
    const catalog = data === current ? before : after;
    const models = data.findProvider(PROVIDERS[provider].catalogId)?.models ?? [];
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
