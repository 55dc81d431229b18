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

export function setSubtreeOpen(table: RunTable, row: number, state: OpenState, open: boolean): OpenState {
  const rows: number[] = [];
  for (let one = row; one < (table.end[row] ?? row); one += 1) if (!isCallRow(table, one)) rows.push(one);
  return setOpen(table, rows, state, open);
}

export function reveal(table: RunTable, row: number, state: OpenState): OpenState {
  const closed = listAncestors(table, row).filter((above) => !isOpen(table, above, state));
  return closed.length === 0 ? state : setOpen(table, closed, state, true);
}

/** Rows that are shown at first, at most: as many levels are open as fit. */
const USUAL_ROWS = 300;
/** With fewer rows than this there is nothing to read: folds are opened too. */
const FEW_ROWS = 12;
const LAST_LEVEL = 9;

/** How many rows each level shows, with folds closed, or opened by the level like steps. */
function countRowsByLevel(table: RunTable, areFoldsOpen: boolean): readonly number[] {
  const shown = new Array<number>(LAST_LEVEL + 1).fill(0);
  for (let row = 0; row < table.count; ) {
    for (let level = table.depth[row] ?? 0; level <= LAST_LEVEL; level += 1) shown[level] = (shown[level] ?? 0) + 1;
    row = table.kind[row] === FOLD && !areFoldsOpen ? (table.end[row] ?? row + 1) : row + 1;
  }
  return shown;
}

function deepestLevel(shown: readonly number[]): number {
  for (let level = LAST_LEVEL; level > 1; level -= 1) if ((shown[level] ?? 0) <= USUAL_ROWS) return level;
  return 1;
}

/** What shows a run without burying the reader: a small run is open at once. */
export function chooseOpenState(table: RunTable): OpenState {
  const folded = countRowsByLevel(table, false);
  const level = deepestLevel(folded);
  if ((folded[level] ?? 0) >= FEW_ROWS) return openToLevel(level);
  const unfolded = countRowsByLevel(table, true);
  const openLevel = deepestLevel(unfolded);
  if ((unfolded[openLevel] ?? 0) > USUAL_ROWS) return openToLevel(level);
  const folds: number[] = [];
  for (let row = 0; row < table.count; row += 1)
    if (table.kind[row] === FOLD && (table.depth[row] ?? 0) < openLevel) folds.push(row);
  return setOpen(table, folds, openToLevel(openLevel), true);
}
