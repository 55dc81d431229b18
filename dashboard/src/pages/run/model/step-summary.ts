/** Where the money and the time of one step went: by child, by model, its costliest calls; and all steps as one list. */
import { NO_STEP } from '../../../search/dimensions.ts';
import {
  CALL,
  FOLD,
  listChildren,
  listNames,
  nameAt,
  numberAt,
  type RunTable,
  STEP,
  textAt,
  tokensAt,
} from './run-table.ts';
import { readTimeProfile } from './time-profile.ts';

export interface Share {
  readonly label: string;
  /** Null: no one row stands for it. */
  readonly row: number | null;
  readonly calls: number;
  readonly errors: number;
  readonly unpriced: number;
  readonly cost: bigint;
}

function byCost<Item>(costOf: (item: Item) => bigint): (a: Item, b: Item) => number {
  return (a, b) => {
    const [costA, costB] = [costOf(a), costOf(b)];
    return costA < costB ? 1 : costA > costB ? -1 : 0;
  };
}

function addTo(shares: Map<string, Share>, label: string, table: RunTable, row: number): void {
  const known = shares.get(label);
  shares.set(label, {
    label,
    row: known === undefined ? row : null,
    calls: (known?.calls ?? 0) + (table.calls[row] ?? 0),
    errors: (known?.errors ?? 0) + (table.errors[row] ?? 0),
    unpriced: (known?.unpriced ?? 0) + (table.unpriced[row] ?? 0),
    cost: (known?.cost ?? 0n) + (table.totalCost[row] ?? 0n),
  });
}

/** Steps and folds directly beneath, and calls by their name, the costliest first. */
export function listChildShares(table: RunTable, row: number): readonly Share[] {
  const shares = new Map<string, Share>();
  for (const child of listChildren(table, row)) {
    // A step and a call may have one name.
    const kind = table.kind[child] === STEP ? 'step' : table.kind[child] === FOLD ? 'fold' : 'call';
    if ((table.kind[child] ?? 0) <= CALL) addTo(shares, `${kind}\n${nameAt(table, child)}`, table, child);
  }
  return [...shares.values()]
    .map((share) => ({ ...share, label: share.label.slice(share.label.indexOf('\n') + 1) }))
    .sort(byCost(({ cost }) => cost));
}

export function listModelShares(table: RunTable, row: number): readonly Share[] {
  const shares = new Map<string, Share>();
  for (let one = row; one < (table.end[row] ?? row); one += 1)
    if (table.kind[one] === CALL) addTo(shares, textAt(table, table.model, one) ?? '(not known)', table, one);
  return [...shares.values()].sort(byCost(({ cost }) => cost));
}

export function listCostliestCalls(table: RunTable, row: number, most: number): readonly number[] {
  const calls: number[] = [];
  for (let one = row; one < (table.end[row] ?? row); one += 1) if (table.kind[one] === CALL) calls.push(one);
  return calls.sort(byCost((one) => table.totalCost[one] ?? 0n)).slice(0, most);
}

export const STEP_SORTS = ['path', 'calls', 'cost', 'own', 'tokens', 'active', 'errors'] as const;
export type StepSort = (typeof STEP_SORTS)[number];

/** A step with all beneath it; or, in row 0, the calls of the run that are in no step. All rows of the outermost add up. */
export interface StepLine {
  readonly row: number;
  readonly path: string;
  readonly calls: number;
  readonly errors: number;
  readonly unpriced: number;
  readonly ownUnpriced: number;
  readonly cost: bigint;
  readonly ownCost: bigint;
  /** Null: not reported by any call. */
  readonly tokens: ReturnType<typeof tokensAt>;
  readonly activeMs: number;
}

/** Equal ones keep the order of the tree. */
export function listSteps(table: RunTable, sort: StepSort, isDescending: boolean): readonly StepLine[] {
  const lines: StepLine[] = [];
  const loose = listLooseCalls(table);
  if (loose.length > 0) lines.push(toLooseLine(table, loose));
  for (let row = 1; row < table.count; row += 1) if (table.kind[row] === STEP) lines.push(toStepLine(table, row));
  const compare = compareLines(sort);
  return lines.sort((a, b) => (isDescending ? compare(b, a) : compare(a, b)) || a.row - b.row);
}

function toStepLine(table: RunTable, row: number): StepLine {
  return {
    row,
    path: listNames(table, row).join(' / '),
    calls: table.calls[row] ?? 0,
    errors: table.errors[row] ?? 0,
    unpriced: table.unpriced[row] ?? 0,
    ownUnpriced: table.ownUnpriced[row] ?? 0,
    cost: table.totalCost[row] ?? 0n,
    ownCost: table.ownCost[row] ?? 0n,
    tokens: tokensAt(table, row),
    activeMs: table.activeMs[row] ?? 0,
  };
}

function listLooseCalls(table: RunTable): readonly number[] {
  return listChildren(table, 0).filter((row) => table.kind[row] === CALL);
}

function toLooseLine(table: RunTable, calls: readonly number[]): StepLine {
  const sumOf = (column: Float64Array): number | null =>
    calls.reduce<number | null>((sum, row) => {
      const value = numberAt(column, row);
      return value === null ? sum : (sum ?? 0) + value;
    }, null);
  const sorted = (times: Float64Array) => calls.map((row) => times[row] ?? 0).sort((a, b) => a - b);
  const unpriced = table.ownUnpriced[0] ?? 0;
  const cost = table.ownCost[0] ?? 0n;
  return {
    row: 0,
    path: NO_STEP,
    unpriced,
    ownUnpriced: unpriced,
    cost,
    ownCost: cost,
    calls: calls.length,
    errors: calls.reduce((sum, row) => sum + (table.errors[row] ?? 0), 0),
    tokens: {
      input_tokens: sumOf(table.inputTokens),
      cache_read_input_tokens: sumOf(table.cacheReadTokens),
      cache_creation_input_tokens: sumOf(table.cacheCreationTokens),
      output_tokens: sumOf(table.outputTokens),
    },
    activeMs: readTimeProfile(sorted(table.startMs), sorted(table.endMs)).activeMs,
  };
}

function compareLines(sort: StepSort): (a: StepLine, b: StepLine) => number {
  switch (sort) {
    case 'path':
      return (a, b) => a.row - b.row;
    case 'calls':
      return (a, b) => a.calls - b.calls;
    case 'cost':
      return (a, b) => byCost<StepLine>(({ cost }) => cost)(b, a);
    case 'own':
      return (a, b) => byCost<StepLine>(({ ownCost }) => ownCost)(b, a);
    case 'tokens':
      return (a, b) => tokensOf(a) - tokensOf(b);
    case 'active':
      return (a, b) => a.activeMs - b.activeMs;
    case 'errors':
      return (a, b) => a.errors - b.errors;
  }
}

function tokensOf({ tokens }: StepLine): number {
  return Object.values(tokens).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}
