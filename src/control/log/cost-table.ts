/** Arranges the sums by group and bucket into a table: groups, the rest, the total. Pure and exact. */
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { addCallSums, type CallSums } from './call-sums.ts';

export interface CostCell extends CallSums {
  readonly place: number;
  readonly group_1: string | null;
  readonly group_2: string | null;
  readonly bucket: Date | null;
  readonly all_groups: number;
}

export interface CostBucket {
  readonly start: Date;
  readonly total_cost: string;
  readonly calls: number;
  readonly unpriced_calls: number;
}

export interface CostRow extends CallSums {
  readonly group: readonly (string | null)[];
  /** Buckets with calls only, in order of time; null when the question has no interval. */
  readonly buckets: readonly CostBucket[] | null;
}

export interface CostRest extends CallSums {
  readonly groups: number;
  readonly buckets: readonly CostBucket[] | null;
}

export interface CostTable {
  readonly totals: CallSums;
  readonly rows: readonly CostRow[];
  readonly rest: CostRest | null;
}

function listBuckets(cells: readonly CostCell[]): readonly CostBucket[] | null {
  const buckets: CostBucket[] = [];
  for (const { bucket, total_cost, calls, unpriced_calls } of cells) {
    if (bucket === null) return null;
    buckets.push({ start: bucket, total_cost: formatUsd(parseUsd(total_cost)), calls, unpriced_calls });
  }
  return buckets;
}

function compareRows(a: CostRow, b: CostRow): number {
  const difference = parseUsd(b.total_cost) - parseUsd(a.total_cost);
  return difference > 0n ? 1 : difference < 0n ? -1 : b.calls - a.calls;
}

export function tabulateCosts(cells: readonly CostCell[], dimensions: number, limit: number): CostTable {
  const rows: CostRow[] = [];
  const unset: CostRow[] = [];
  let rest: CostRest | null = null;
  for (const [place, own] of Map.groupBy(cells, (cell) => cell.place)) {
    const [first] = own;
    if (first === undefined) continue;
    const sums = { ...addCallSums(own), buckets: listBuckets(own) };
    if (place > limit) rest = { ...sums, groups: first.all_groups - limit };
    else (place === 0 ? unset : rows).push({ group: [first.group_1, first.group_2].slice(0, dimensions), ...sums });
  }
  // The row without a value comes last among equal ones.
  return { totals: addCallSums(cells), rows: [...rows, ...unset].sort(compareRows), rest };
}
