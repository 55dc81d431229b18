/**
 * A run's tree as columns: row n of every column is the n-th node in display order, parents before what is beneath them,
 * row 0 the run itself. It is made in a worker and handed over without copying; the page only reads it.
 */
import type { Columns } from './table-columns.ts';

export const STEP = 0;
export const FOLD = 1;
export const CALL = 2;
/** A call that has not ended: in no sum. */
export const OPEN = 3;

export interface FoldStatistics {
  readonly minCost: bigint | null;
  readonly medianCost: bigint | null;
  readonly maxCost: bigint | null;
  readonly minMs: number;
  readonly medianMs: number;
  readonly maxMs: number;
}

export type RunTable = Readonly<Columns> & {
  readonly count: number;
  /** Epoch milliseconds of the run's first start; all other times count from it. */
  readonly originMs: number;
  /** Length of the run; with open calls at least up to the latest start. */
  readonly lengthMs: number;
  /** Each once, by the number that the columns hold; number 0 stands for "none". */
  readonly texts: readonly string[];
  /** Keys of steps (span keys) and folds. */
  readonly keys: readonly string[];
  readonly foldStatistics: readonly (FoldStatistics | null)[];
  /** Ids of calls, one after another, `ID_LENGTH` characters each: one string crosses to the page, not thousands. */
  readonly ids: string;
  /** Pico-dollars; a call without a total has what is known of it. */
  readonly totalCost: ArrayLike<bigint>;
  readonly ownCost: ArrayLike<bigint>;
};

export const ID_LENGTH = 36;

export function isCallRow(table: RunTable, row: number): boolean {
  return (table.kind[row] ?? STEP) >= CALL;
}

export function textAt(table: RunTable, column: Uint32Array, row: number): string | null {
  const number = column[row] ?? 0;
  return number === 0 ? null : (table.texts[number] ?? null);
}

export function nameAt(table: RunTable, row: number): string {
  return textAt(table, table.name, row) ?? '';
}

export function numberAt(column: Float64Array, row: number): number | null {
  const value = column[row];
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** As the API names them. */
export function tokensAt(table: RunTable, row: number) {
  return {
    input_tokens: numberAt(table.inputTokens, row),
    cache_read_input_tokens: numberAt(table.cacheReadTokens, row),
    cache_creation_input_tokens: numberAt(table.cacheCreationTokens, row),
    output_tokens: numberAt(table.outputTokens, row),
  };
}

export function callIdAt(table: RunTable, row: number): string {
  const slot = table.slot[row] ?? 0;
  return table.ids.slice(slot * ID_LENGTH, (slot + 1) * ID_LENGTH);
}

/** Null for calls. */
export function keyAt(table: RunTable, row: number): string | null {
  return isCallRow(table, row) ? null : (table.keys[table.slot[row] ?? 0] ?? null);
}

export function findCall(table: RunTable, id: string): number | null {
  if (id.length !== ID_LENGTH) return null;
  let at = table.ids.indexOf(id);
  while (at >= 0 && at % ID_LENGTH !== 0) at = table.ids.indexOf(id, at + 1);
  if (at < 0) return null;
  const slot = at / ID_LENGTH;
  for (let row = 0; row < table.count; row += 1) if (isCallRow(table, row) && table.slot[row] === slot) return row;
  return null;
}

export function findKey(table: RunTable, key: string): number | null {
  const slot = table.keys.indexOf(key);
  if (slot < 0) return null;
  for (let row = 0; row < table.count; row += 1) if (!isCallRow(table, row) && table.slot[row] === slot) return row;
  return null;
}

export function listChildren(table: RunTable, row: number): readonly number[] {
  const children: number[] = [];
  const end = table.end[row] ?? row;
  for (let child = row + 1; child < end; child = table.end[child] ?? end) children.push(child);
  return children;
}

/** Rows above a node, the nearest first. */
export function listAncestors(table: RunTable, row: number): readonly number[] {
  const ancestors: number[] = [];
  for (let above = table.parent[row] ?? -1; above >= 0; above = table.parent[above] ?? -1) ancestors.push(above);
  return ancestors;
}

/** Names of the steps from the run down to this row, folds left out. */
export function listNames(table: RunTable, row: number): readonly string[] {
  return [row, ...listAncestors(table, row)]
    .filter((one) => one > 0 && table.kind[one] !== FOLD)
    .map((one) => nameAt(table, one))
    .reverse();
}

/** All columns whose memory can change hands instead of being copied. */
export function listBuffers(table: RunTable): readonly ArrayBuffer[] {
  return Object.values(table).flatMap((column: unknown) =>
    ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer ? [column.buffer] : [],
  );
}

/** Stands in the address for the run itself; no span key begins with a slash. */
const RUN_IDENTITY = '/';

/** What stays the same of a row when the table is built anew: a call's id, a step's or fold's key. */
export function identify(table: RunTable, row: number): string {
  const key = keyAt(table, row);
  return key === null ? callIdAt(table, row) : key === '' ? RUN_IDENTITY : key;
}

export function findIdentity(table: RunTable, identity: string): number | null {
  return findCall(table, identity) ?? findKey(table, identity === RUN_IDENTITY ? '' : identity);
}
