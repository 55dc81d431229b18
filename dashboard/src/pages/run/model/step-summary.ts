/** Where the money and the time of one step went: by child, by model, its dearest calls; and all steps as one list. */
import { CALL, FOLD, listChildren, nameAt, type RunTable, STEP, textAt } from './run-table.ts';

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

/** Steps and folds directly beneath, and calls by their name, the dearest first. */
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

/** Rows of the calls beneath, the dearest first. */
export function listDearestCalls(table: RunTable, row: number, most: number): readonly number[] {
  const calls: number[] = [];
  for (let one = row; one < (table.end[row] ?? row); one += 1) if (table.kind[one] === CALL) calls.push(one);
  return calls.sort(byCost((one) => table.totalCost[one] ?? 0n)).slice(0, most);
}

export const STEP_SORTS = ['path', 'calls', 'cost', 'own', 'tokens', 'active', 'errors'] as const;
export type StepSort = (typeof STEP_SORTS)[number];

function compareSteps(table: RunTable, sort: StepSort): (a: number, b: number) => number {
  const by = (column: ArrayLike<number>) => (a: number, b: number) => (column[a] ?? 0) - (column[b] ?? 0);
  switch (sort) {
    case 'path':
      return (a, b) => a - b;
    case 'calls':
      return by(table.calls);
    case 'cost':
      return (a, b) => byCost((row: number) => table.totalCost[row] ?? 0n)(b, a);
    case 'own':
      return (a, b) => byCost((row: number) => table.ownCost[row] ?? 0n)(b, a);
    case 'tokens':
      return (a, b) => tokensOf(table, a) - tokensOf(table, b);
    case 'active':
      return by(table.activeMs);
    case 'errors':
      return by(table.errors);
  }
}

function tokensOf(table: RunTable, row: number): number {
  return [table.inputTokens, table.cacheReadTokens, table.cacheCreationTokens, table.outputTokens].reduce(
    (sum, column) => sum + (column[row] || 0),
    0,
  );
}

/** Every step but the run itself; equal ones keep the order of the tree. */
export function listSteps(table: RunTable, sort: StepSort, isDescending: boolean): readonly number[] {
  const rows: number[] = [];
  for (let row = 1; row < table.count; row += 1) if (table.kind[row] === STEP) rows.push(row);
  const compare = compareSteps(table, sort);
  return rows.sort((a, b) => (isDescending ? compare(b, a) : compare(a, b)) || a - b);
}
