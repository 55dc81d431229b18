/** Which nodes of a run are open: down to a level, and those that somebody opened or closed against it. */
import { FOLD, isCallRow, keyAt, listAncestors, type RunTable } from './run-table.ts';

export interface OpenState {
  /** Nodes down to this depth are open (the run is 0), folds not; `all` opens folds too. */
  readonly level: number | 'all';
  /** By key: open or closed, whatever the level says. */
  readonly changed: ReadonlyMap<string, boolean>;
}

const NOTHING: ReadonlyMap<string, boolean> = new Map();

export function openToLevel(level: number | 'all'): OpenState {
  return { level, changed: NOTHING };
}

/** Whether a level shows what is beneath this row. */
function isOpenByLevel(table: RunTable, row: number, level: number | 'all'): boolean {
  if (level === 'all') return true;
  return table.kind[row] !== FOLD && (table.depth[row] ?? 0) < level;
}

export function isOpen(table: RunTable, row: number, state: OpenState): boolean {
  if (isCallRow(table, row)) return false;
  const changed = state.changed.size === 0 ? undefined : state.changed.get(keyAt(table, row) ?? '');
  return changed ?? isOpenByLevel(table, row, state.level);
}

export function setOpen(table: RunTable, rows: readonly number[], state: OpenState, open: boolean): OpenState {
  const changed = new Map(state.changed);
  for (const row of rows) {
    const key = keyAt(table, row);
    if (key === null) continue;
    if (isOpenByLevel(table, row, state.level) === open) changed.delete(key);
    else changed.set(key, open);
  }
  return { ...state, changed };
}

/** The node and every step beneath it. */
export function setSubtreeOpen(table: RunTable, row: number, state: OpenState, open: boolean): OpenState {
  const rows: number[] = [];
  for (let one = row; one < (table.end[row] ?? row); one += 1) if (!isCallRow(table, one)) rows.push(one);
  return setOpen(table, rows, state, open);
}

/** Opens what is above a row, so that it can be seen. */
export function reveal(table: RunTable, row: number, state: OpenState): OpenState {
  const closed = listAncestors(table, row).filter((above) => !isOpen(table, above, state));
  return closed.length === 0 ? state : setOpen(table, closed, state, true);
}

/** Rows that are shown at first, at most: as many levels are open as fit. */
const USUAL_ROWS = 300;
const LAST_LEVEL = 9;

/** The deepest level that shows a run without burying the reader: a small run is open at once. */
export function chooseLevel(table: RunTable): number {
  const shown = new Array<number>(LAST_LEVEL + 1).fill(0);
  for (let row = 0; row < table.count; ) {
    for (let level = table.depth[row] ?? 0; level <= LAST_LEVEL; level += 1) shown[level] = (shown[level] ?? 0) + 1;
    // No level opens a fold.
    row = table.kind[row] === FOLD ? (table.end[row] ?? row + 1) : row + 1;
  }
  for (let level = LAST_LEVEL; level > 1; level -= 1) if ((shown[level] ?? 0) <= USUAL_ROWS) return level;
  return 1;
}
