/** The rows below the drawing: each group with its share and its average, worked out in whole pico-dollars. */
import { formatUsd, parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { CostRest, CostSums, Costs } from '../../api/costs.ts';
import { describeGroup, groupFilters, groupKey, type KeyNames } from '../../search/dimensions.ts';

export interface CostRow {
  readonly key: string;
  readonly names: readonly string[];
  readonly filters: readonly string[] | null;
  readonly sums: CostSums;
  /** Share of all costs, 0..1; null when nothing cost anything. */
  readonly share: number | null;
  /** Decimal text, rounded at the twelfth decimal, and down where it is a lower bound; null without calls. */
  readonly averageCost: string | null;
  readonly buckets: readonly { readonly start: string; readonly total_cost: string }[];
}

const SHARE_STEPS = 1_000_000n;

/** The division is exact to a millionth, so that no float touches the amounts. */
export function shareOf(part: string, whole: string): number | null {
  const wholePico = parseUsd(whole);
  if (wholePico === 0n) return null;
  return Number((parseUsd(part) * SHARE_STEPS) / wholePico) / Number(SHARE_STEPS);
}

export function averageOf({ total_cost: totalCost, calls, unpriced_calls: unpriced }: CostSums): string | null {
  if (calls === 0) return null;
  const [pico, count] = [parseUsd(totalCost), BigInt(calls)];
  if (unpriced > 0) return formatUsd((pico < 0n ? pico - (count - 1n) : pico) / count);
  const half = pico < 0n ? -(count / 2n) : count / 2n;
  return formatUsd((pico + half) / count);
}

function describeRest({ groups }: CostRest): string {
  return `Other (${groups} ${groups === 1 ? 'group' : 'groups'})`;
}

export function buildRows(costs: Costs, by: readonly string[], keyNames: KeyNames): readonly CostRow[] {
  const figures = (sums: CostSums) => ({
    sums,
    share: shareOf(sums.total_cost, costs.totals.total_cost),
    averageCost: averageOf(sums),
  });
  const rows = costs.data.map(
    (row): CostRow => ({
      key: groupKey(row.group),
      names: describeGroup(by, row.group, keyNames),
      filters: groupFilters(by, row.group),
      buckets: row.buckets ?? [],
      ...figures(row),
    }),
  );
  const { rest } = costs;
  if (rest === null) return rows;
  return [
    ...rows,
    { key: 'rest', names: [describeRest(rest)], filters: null, buckets: rest.buckets ?? [], ...figures(rest) },
  ];
}
