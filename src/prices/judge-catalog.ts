/**
 * Whether another catalogue can be trusted to take the place of the one in use: what about it looks like a mistake and
 * not like a new price list. Pure. Its form was checked before; whether a doubt is overruled is for others.
 */
import type { ProviderName } from '../call-record.ts';
import { PROVIDER_NAMES } from '../call-record.ts';
import { type CatalogData, createCatalog } from '../pricing/catalog.ts';
import { type Decimal, parseDecimal } from '../pricing/decimal.ts';
import { createPriceBook } from '../pricing/price-book.ts';
import { PER_MILLION, type PriceRow } from '../pricing/price-row.ts';
import type { UsageClass } from '../token-usage.ts';
import type { AnchorCase } from './anchor-cases.ts';
import {
  type CatalogChanges,
  compareCatalogs,
  findRow,
  isRepeated,
  listPricePoints,
  type PricePoint,
} from './compare-catalogs.ts';
import { formatCost, formatRate, formatWhen } from './format-rate.ts';

export const GATES = ['worked_case', 'free', 'jump', 'relation', 'implausible', 'lost_models'] as const;

export interface Refusal {
  readonly gate: (typeof GATES)[number];
  readonly provider: ProviderName;
  /** Null where it is about many. */
  readonly model: string | null;
  /** In plain words, with the values before and after. */
  readonly text: string;
}

export interface Judgement {
  readonly changes: CatalogChanges;
  readonly refusals: readonly Refusal[];
}

/** Of a price, up or down. */
const MAX_FACTOR = 5n;
/** Of a provider's models: more than one in so many. */
const MAX_LOST_ONE_IN = 10;
const MAX_LOST_NAMES = 10;
/** USD for a million tokens. Published ones are 0.0028 to 600: this tells prices for one token or a thousand. */
const LEAST_PLAUSIBLE: Decimal = parseDecimal('0.001');
const MOST_PLAUSIBLE: Decimal = parseDecimal('1000');
const ONE_HOUR_WRITE_FACTOR = 2n;

function* judgeRates({ rates }: CatalogChanges): Generator<Refusal> {
  for (const change of rates) {
    const { provider, model, unit, before, after, per } = change;
    if (before === null || after === null || before === 0n) continue;
    const about = `${provider} ${model}: ${unit}${formatWhen(change)}`;
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
    if (names.length * MAX_LOST_ONE_IN <= modelsBefore[provider]) continue;
    const more = names.length > MAX_LOST_NAMES ? ', …' : '';
    yield {
      gate: 'lost_models',
      provider,
      model: null,
      text: `${provider}: ${names.length} of ${modelsBefore[provider]} models would have no price any more: ${names.slice(0, MAX_LOST_NAMES).join(', ')}${more}`,
    };
  }
}

function* judgeAnchors(
  current: CatalogData,
  candidate: CatalogData,
  anchors: readonly AnchorCase[],
): Generator<Refusal> {
  const [before, after] = [current, candidate].map((data) => createPriceBook({ catalog: createCatalog(data) }));
  for (const { id, model, call, worked } of anchors) {
    const now = before?.priceCall(call).totalCost ?? null;
    const then = after?.priceCall(call).totalCost ?? null;
    if (then === now || then === worked) continue;
    yield {
      gate: 'worked_case',
      provider: call.provider,
      model,
      text: `${call.provider} ${model}: the worked call ${id} would ${then === null ? 'have no cost' : `cost ${formatCost(then)}`}; it costs ${formatCost(now ?? worked)}`,
    };
  }
}

/** How prices of one model stand to each other: [the one, the other, what is wrong with them]. */
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
  for (const [unit, other, isWrong, words] of provider === 'anthropic' ? [...RELATIONS, ONE_HOUR] : RELATIONS) {
    const row = isRepeated(provider, unit) ? null : findRow(rows, unit, point);
    const against = findRow(rows, other, point);
    if (row === null || against === null || !isWrong(row.rate, against.rate)) continue;
    yield {
      gate: 'relation',
      text: `${unit} would cost ${formatRate(row.rate, row.per)}, ${words} ${other} at ${formatRate(against.rate, against.per)}`,
    };
  }
}

/** What is wrong with a model's own prices, whatever they were before. Each finding once. */
function listOwnFindings(provider: ProviderName, rows: readonly PriceRow[]): ReadonlyMap<string, Found> {
  const findings = listPricePoints(rows).flatMap((point) => [...judgePoint(provider, rows, point)]);
  for (const { unit, rate, per } of rows)
    if (per === PER_MILLION && rate !== 0n && (rate < LEAST_PLAUSIBLE || rate > MOST_PLAUSIBLE))
      findings.push({
        gate: 'implausible',
        text: `${unit} would cost ${formatRate(rate, per)}; prices are for a million tokens`,
      });
  return new Map(findings.map((finding) => [finding.text, finding]));
}

/** What stands so in the catalogue in use was published so, or was accepted. */
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

export function judgeCatalog(current: CatalogData, candidate: CatalogData, anchors: readonly AnchorCase[]): Judgement {
  const changes = compareCatalogs(current, candidate);
  return {
    changes,
    refusals: [
      ...judgeLosses(changes),
      ...judgeRates(changes),
      ...judgeModels(current, candidate),
      ...judgeAnchors(current, candidate, anchors),
    ],
  };
}
