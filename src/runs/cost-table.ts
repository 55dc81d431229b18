/**
 * Sums by group and bucket, as the database lists them, put into a table: groups, the rest, the total. Pure and exact.
 */
import { formatUsd, type PicoUsd, parseUsd } from '../usd.ts';
import type { SUMMED_COLUMNS } from './run-aggregate.ts';

type SummedColumn = (typeof SUMMED_COLUMNS)[number];
type Counts = Readonly<Record<Exclude<SummedColumn, 'total_cost'>, number>>;

/** Money is decimal text. */
export interface CostSums extends Counts {
  readonly total_cost: string;
}

/** One row of the database's answer. */
export interface CostCell extends CostSums {
  /** From 1; beyond the limit all are one: the rest. */
  readonly place: number;
  readonly group_1: string | null;
  readonly group_2: string | null;
  readonly bucket: Date | null;
  /** How many groups there are in all. */
  readonly all_groups: number;
}

export interface CostBucket {
  readonly start: Date;
  readonly total_cost: string;
  readonly calls: number;
  readonly unpriced_calls: number;
}

export interface CostRow extends CostSums {
  /** Null: the call has no such value. */
  readonly group: readonly (string | null)[];
  /** Only those with calls, in order of time; null when the question has no interval. */
  readonly buckets: readonly CostBucket[] | null;
}

export interface CostRest extends CostSums {
  /** How many groups are in it. */
  readonly groups: number;
  readonly buckets: readonly CostBucket[] | null;
}

export interface CostTable {
  readonly totals: CostSums;
  readonly rows: readonly CostRow[];
  readonly rest: CostRest | null;
}

function sumCells(cells: readonly CostCell[]): CostSums {
  const sum = (column: keyof Counts) => cells.reduce((total, cell) => total + cell[column], 0);
  const cost = cells.reduce<PicoUsd>((total, cell) => total + parseUsd(cell.total_cost), 0n);
  return {
    calls: sum('calls'),
    errors: sum('errors'),
    client_closed_calls: sum('client_closed_calls'),
    unpriced_calls: sum('unpriced_calls'),
    total_cost: formatUsd(cost),
    input_tokens: sum('input_tokens'),
    cache_read_input_tokens: sum('cache_read_input_tokens'),
    cache_creation_input_tokens: sum('cache_creation_input_tokens'),
    output_tokens: sum('output_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
  };
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

/** `cells` by place and time. */
export function tabulateCosts(cells: readonly CostCell[], dimensions: number, limit: number): CostTable {
  const rows: CostRow[] = [];
  const unset: CostRow[] = [];
  let rest: CostRest | null = null;
  for (const [place, own] of Map.groupBy(cells, (cell) => cell.place)) {
    const [first] = own;
    if (first === undefined) continue;
    const sums = { ...sumCells(own), buckets: listBuckets(own) };
    if (place > limit) rest = { ...sums, groups: first.all_groups - limit };
    else (place === 0 ? unset : rows).push({ group: [first.group_1, first.group_2].slice(0, dimensions), ...sums });
  }
  // What is not set is always a row; among equal ones it is the last, and the others keep the order of their names.
  return { totals: sumCells(cells), rows: [...rows, ...unset].sort(compareRows), rest };
}
