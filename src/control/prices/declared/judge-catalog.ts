/** Judges whether a catalog's changes look like mistakes. Callers may overrule a doubt. */

import { type CatalogData, createCatalog, isRepeated } from '../../../pricing/catalog.ts';
import { type Decimal, parseDecimal } from '../../../pricing/decimal.ts';
import { formatCost, formatRate, formatWhen } from '../../../pricing/format-rate.ts';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { PER_MILLION, type PriceRow } from '../../../pricing/price-row.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import type { UsageClass } from '../../../vocabulary/token-usage.ts';
import { type CatalogChanges, compareCatalogs, findRow, listPricePoints, type PricePoint } from './compare-catalogs.ts';
import type { GoldenCost } from './golden-costs.ts';

export const GATES = ['worked_case', 'free', 'jump', 'relation', 'implausible', 'lost_models'] as const;

export interface Refusal {
  readonly gate: (typeof GATES)[number];
  readonly provider: ProviderName;
  /** Null where several models are meant. */
  readonly model: string | null;
  readonly text: string;
}

export interface Judgement {
  readonly changes: CatalogChanges;
  readonly refusals: readonly Refusal[];
}

const MAX_FACTOR = 5n;
/** A provider may lose one model in this many. */
const MAX_LOST_ONE_IN = 10;
const MAX_LOST_NAMES = 10;
/** USD for a million tokens. Published ones are 0.0028 to 600: this detects prices per token or thousand. */
const LEAST_PLAUSIBLE: Decimal = parseDecimal('0.001');
const MOST_PLAUSIBLE: Decimal = parseDecimal('1000');
const ONE_HOUR_WRITE_FACTOR = 2n;

function* judgeRates({ rates }: CatalogChanges): Generator<Refusal> {
  for (const change of rates) {
    const { provider, model, usageClass, before, after, per } = change;
    if (before === null || after === null || before === 0n) continue;
    const about = `${provider} ${model}: ${usageClass}${formatWhen(change)}`;
    if (after === 0n)
      yield { gate: 'free', provider, model, text: `${about} would be free; it costs ${formatRate(before, per)}` };
    else if (after > before * MAX_FACTOR || after * MAX_FACTOR < before)
      yield {
        gate: 'jump',
        provider,
        model,
        text: `${about} would go from ${formatRate(before, per)} to ${formatRate(after, per)}, by more than ${MAX_FACTOR} times`,
      };
  }
}

function* judgeLosses({ lost, modelsBefore }: CatalogChanges): Generator<Refusal> {
  for (const provider of PROVIDER_NAMES) {
    const names = lost.filter((named) => named.provider === provider).map(({ model }) => model);
    if (names.length * MAX_LOST_ONE_IN <= (modelsBefore[provider] ?? 0)) continue;
    const more = names.length > MAX_LOST_NAMES ? ', …' : '';
    yield {
      gate: 'lost_models',
      provider,
      model: null,
      text: `${provider}: ${names.length} of ${modelsBefore[provider] ?? 0} models would have no price any more: ${names.slice(0, MAX_LOST_NAMES).join(', ')}${more}`,
    };
  }
}

function* judgeGoldenCosts(
  current: CatalogData,
  candidate: CatalogData,
  goldenCosts: readonly GoldenCost[],
): Generator<Refusal> {
  const before = createPriceBook({ catalog: createCatalog(current) });
  const after = createPriceBook({ catalog: createCatalog(candidate) });
  for (const { id, provider, model, worked, priceBy } of goldenCosts) {
    const now = priceBy(before);
    const then = priceBy(after);
    if (then === now || then === worked) continue;
    yield {
      gate: 'worked_case',
      provider,
      model,
      text: `${provider} ${model}: the worked call ${id} would ${then === null ? 'have no cost' : `cost ${formatCost(then)}`}; it costs ${formatCost(now ?? worked)}`,
    };
  }
}

/** How prices of one model relate: [one class, another, what is wrong]. */
const RELATIONS: readonly (readonly [UsageClass, UsageClass, (a: Decimal, b: Decimal) => boolean, string])[] = [
  ['cache_read', 'input', (read, input) => read > input, 'more than'],
  ['cache_read_audio', 'input_audio', (read, input) => read > input, 'more than'],
  ['cache_read_image', 'input_image', (read, input) => read > input, 'more than'],
  ['cache_creation_5m', 'input', (write, input) => write < input, 'less than'],
  ['cache_creation_30m', 'input', (write, input) => write < input, 'less than'],
  ['cache_creation_1h', 'input', (write, input) => write < input, 'less than'],
];
const ONE_HOUR: (typeof RELATIONS)[number] = [
  'cache_creation_1h',
  'input',
  (write, input) => write !== input * ONE_HOUR_WRITE_FACTOR,
  `not ${ONE_HOUR_WRITE_FACTOR} times`,
];

interface Found {
  readonly gate: 'relation' | 'implausible';
  readonly text: string;
}

function* judgePoint(provider: ProviderName, rows: readonly PriceRow[], point: PricePoint): Generator<Found> {
  for (const [usageClass, other, isWrong, words] of provider === 'anthropic' ? [...RELATIONS, ONE_HOUR] : RELATIONS) {
    const row = isRepeated(provider, usageClass) ? null : findRow(rows, usageClass, point);
    const against = findRow(rows, other, point);
    if (row === null || against === null || !isWrong(row.rate, against.rate)) continue;
    yield {
      gate: 'relation',
      text: `${usageClass} would cost ${formatRate(row.rate, row.per)}, ${words} ${other} at ${formatRate(against.rate, against.per)}`,
    };
  }
}

/** Faults in a model's own prices, each once, whatever they were before. */
function listOwnFindings(provider: ProviderName, rows: readonly PriceRow[]): ReadonlyMap<string, Found> {
  const findings = listPricePoints(rows).flatMap((point) => [...judgePoint(provider, rows, point)]);
  for (const { usageClass, rate, per } of rows)
    if (per === PER_MILLION && rate !== 0n && (rate < LEAST_PLAUSIBLE || rate > MOST_PLAUSIBLE))
      findings.push({
        gate: 'implausible',
        text: `${usageClass} would cost ${formatRate(rate, per)}; prices are for a million tokens`,
      });
  return new Map(findings.map((finding) => [finding.text, finding]));
}

/** Faults that the current catalog has too were published so or accepted. */
function* judgeModels(current: CatalogData, candidate: CatalogData): Generator<Refusal> {
  const [before, after] = [createCatalog(current), createCatalog(candidate)];
  for (const provider of PROVIDER_NAMES) {
    const former = new Map(before.listModels(provider).map((model) => [model.id, model]));
    for (const model of after.listModels(provider)) {
      const known = listOwnFindings(provider, former.get(model.id)?.rows() ?? []);
      for (const [text, { gate }] of listOwnFindings(provider, model.rows()))
        if (!known.has(text)) yield { gate, provider, model: model.id, text: `${provider} ${model.id}: ${text}` };
    }
  }
}

export function judgeCatalog(
  current: CatalogData,
  candidate: CatalogData,
  goldenCosts: readonly GoldenCost[],
): Judgement {
  const changes = compareCatalogs(current, candidate);
  return {
    changes,
    refusals: [
      ...judgeLosses(changes),
      ...judgeRates(changes),
      ...judgeModels(current, candidate),
      ...judgeGoldenCosts(current, candidate, goldenCosts),
    ],
  };
}
