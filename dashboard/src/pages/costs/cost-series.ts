/** The answer of the server as series over time: the largest groups, "(not set)" and "Other". Sums are exact. */
import { formatUsd, type PicoUsd, parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { CostBucket, CostGroup, Costs } from '../../api/costs.ts';
import { PATTERNS, type SeriesLook, seriesLooks } from '../../components/series-look.ts';
import { describeGroup, groupKey, isNotSet, type KeyNames, NOT_SET } from '../../search/dimensions.ts';
import type { Metric } from './costs-search.ts';

/** More could not be told apart; the table below has them all. */
export const DRAWN_SERIES = 10;
export const OTHER_KEY = 'other';

export interface BucketSums {
  readonly cost: PicoUsd;
  readonly calls: number;
  readonly unpricedCalls: number;
}

export interface CostSeries {
  readonly key: string;
  readonly name: string;
  readonly look: SeriesLook;
  readonly buckets: readonly BucketSums[];
  readonly total: BucketSums;
}

const NOTHING: BucketSums = { cost: 0n, calls: 0, unpricedCalls: 0 };
const OTHER_LOOK: SeriesLook = { colour: '--line-strong', pattern: PATTERNS[0] };
const NOT_SET_LOOK: SeriesLook = { colour: '--ink-faint', pattern: 'diagonal' };

function add(a: BucketSums, b: BucketSums): BucketSums {
  return { cost: a.cost + b.cost, calls: a.calls + b.calls, unpricedCalls: a.unpricedCalls + b.unpricedCalls };
}

export function addUp(sums: readonly BucketSums[]): BucketSums {
  return sums.reduce(add, NOTHING);
}

function spread(starts: readonly string[], buckets: readonly CostBucket[] | null): readonly BucketSums[] {
  const byStart = new Map(
    (buckets ?? []).map(({ start, total_cost, calls, unpriced_calls }) => [
      Date.parse(start),
      { cost: parseUsd(total_cost), calls, unpricedCalls: unpriced_calls },
    ]),
  );
  return starts.map((start) => byStart.get(Date.parse(start)) ?? NOTHING);
}

function addRows(starts: readonly string[], rows: readonly (readonly BucketSums[])[]): readonly BucketSums[] {
  return starts.map((_, index) => addUp(rows.map((row) => row[index] ?? NOTHING)));
}

/**
 * The costliest groups first; "(not set)" is drawn also when it is not among them, and all the others together are
 * "Other". Without two groups that would hide, nothing is folded.
 */
export function buildSeries(costs: Costs, by: readonly string[], keyNames: KeyNames): readonly CostSeries[] {
  const starts = costs.bucket_starts;
  const isFolding = costs.data.length > DRAWN_SERIES + 1;
  const isDrawn = ({ group }: CostGroup, index: number) => !isFolding || index < DRAWN_SERIES || isNotSet(group);
  const drawn = costs.data.filter(isDrawn);
  const folded = costs.data.filter((group, index) => !isDrawn(group, index));
  const names = drawn.map(({ group }) =>
    isNotSet(group) && by.length > 1 ? NOT_SET : describeGroup(by, group, keyNames).join(' / '),
  );
  const looks = seriesLooks(names);
  const series = drawn.map((row, index): CostSeries => {
    const buckets = spread(starts, row.buckets);
    const name = names[index] ?? '';
    const look = isNotSet(row.group) ? NOT_SET_LOOK : (looks[index] ?? OTHER_LOOK);
    return { key: groupKey(row.group), name, look, buckets, total: addUp(buckets) };
  });
  if (folded.length === 0 && costs.rest === null) return series;
  const others = folded.map((row) => spread(starts, row.buckets));
  const buckets = addRows(starts, costs.rest === null ? others : [...others, spread(starts, costs.rest.buckets)]);
  const count = folded.length + (costs.rest?.groups ?? 0);
  return [...series, { key: OTHER_KEY, name: `Other (${count})`, look: OTHER_LOOK, buckets, total: addUp(buckets) }];
}

/** For the height of a bar only: a float, which no figure may be. */
export function barHeight(sums: BucketSums, metric: Metric): number {
  return metric === 'calls' ? sums.calls : Number(formatUsd(sums.cost));
}
