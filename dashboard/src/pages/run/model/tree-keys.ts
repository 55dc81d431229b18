/** What a key does on a row of the tree. Pure: it answers with the next row and the next open state, and does nothing. */
import { isOpen, type OpenState, openToLevel, reveal, setSubtreeOpen } from './open-state.ts';
import { CALL, isCallRow, type RunTable, STEP } from './run-table.ts';
import type { Matches } from './search-table.ts';
import { findPosition, isRowOpen } from './visible-rows.ts';

export interface TreeView {
  readonly table: RunTable;
  readonly rows: Int32Array;
  readonly state: OpenState;
  readonly matches: Matches | null;
  readonly isOnlyMatches: boolean;
}

export interface TreeMove {
  readonly row: number;
  readonly state: OpenState;
}

const PAGE_ROWS = 20;

/** The next row after this one for which the test holds, going round at the end; null when there is none. */
export function findRow(
  table: RunTable,
  from: number,
  step: 1 | -1,
  isWanted: (row: number) => boolean,
): number | null {
  for (let tried = 1; tried <= table.count; tried += 1) {
    const row = (from + step * tried + table.count * 2) % table.count;
    if (isWanted(row)) return row;
  }
  return null;
}

/** The call beneath a row that costs most; null when nothing beneath it costs anything. */
export function findCostliest(table: RunTable, row: number): number | null {
  let costliest: number | null = null;
  let most = 0n;
  for (let one = row; one < (table.end[row] ?? row); one += 1) {
    const cost = table.totalCost[one] ?? 0n;
    if (table.kind[one] === CALL && cost > most) [costliest, most] = [one, cost];
  }
  return costliest;
}

/** The number of a match among all, for "match 3 of 41"; 0 for a row that is none. */
export function countMatch(matches: Matches, row: number): number {
  if (matches.isMatch[row] !== 1) return 0;
  let number = 0;
  for (let one = 0; one <= row; one += 1) if (matches.isMatch[one] === 1) number += 1;
  return number;
}

function moveRight({ table, state, matches, isOnlyMatches }: TreeView, row: number): TreeMove {
  if (isCallRow(table, row)) return { row, state };
  const end = table.end[row] ?? row;
  const only = isOnlyMatches ? matches : null;
  if (!isRowOpen(table, row, state, only)) return { row, state: setRowOpen(table, row, state, true) };
  for (let child = row + 1; child < end; child = table.end[child] ?? end)
    if (only === null || only.hasMatch[child] === 1 || only.isMatch[row] === 1) return { row: child, state };
  return { row, state };
}

function moveLeft({ table, state, matches, isOnlyMatches }: TreeView, row: number): TreeMove {
  const only = isOnlyMatches ? matches : null;
  if (!isCallRow(table, row) && isRowOpen(table, row, state, only))
    return { row, state: setRowOpen(table, row, state, false) };
  return { row: Math.max(0, table.parent[row] ?? 0), state };
}

/** Said outright, also where the level says so: while only matches are shown, the level decides nothing. */
function setRowOpen(table: RunTable, row: number, state: OpenState, open: boolean): OpenState {
  return { ...state, changed: new Map(state.changed).set(table.keys[table.slot[row] ?? 0] ?? '', open) };
}

/** Opens a closed row, closes an open one; a call stays as it is. */
export function toggleRow(view: TreeView, row: number): OpenState {
  if (isCallRow(view.table, row)) return view.state;
  const isNowOpen = isRowOpen(view.table, row, view.state, view.isOnlyMatches ? view.matches : null);
  return setRowOpen(view.table, row, view.state, !isNowOpen);
}

/** To a row that may be hidden: what is above it opens. */
function jump(view: TreeView, row: number | null, from: number): TreeMove {
  if (row === null) return { row: from, state: view.state };
  return { row, state: reveal(view.table, row, view.state) };
}

/** The row that stays in focus when others close: itself or the nearest that is still shown. */
function keepInView(table: RunTable, row: number, state: OpenState): TreeMove {
  let kept = row;
  for (let above = table.parent[row] ?? -1; above >= 0; above = table.parent[above] ?? -1)
    if (!isOpen(table, above, state)) kept = above;
  return { row: kept, state };
}

function moveInRows({ table, rows, state }: TreeView, row: number, by: number): TreeMove {
  const position = Math.max(0, Math.min(rows.length - 1, findPosition(table, rows, row) + by));
  return { row: rows[position] ?? row, state };
}

/** Null for a key that means nothing here. */
export function applyKey(view: TreeView, row: number, key: string, isShift: boolean): TreeMove | null {
  const { table, state, matches } = view;
  const isMatch = (one: number) => matches?.isMatch[one] === 1;
  const isFailed = (one: number) => isFailedCall(table, one);
  switch (key) {
    case 'j':
    case 'ArrowDown':
      return moveInRows(view, row, 1);
    case 'k':
    case 'ArrowUp':
      return moveInRows(view, row, -1);
    case 'PageDown':
      return moveInRows(view, row, PAGE_ROWS);
    case 'PageUp':
      return moveInRows(view, row, -PAGE_ROWS);
    case 'Home':
      return moveInRows(view, row, -table.count);
    case 'End':
      return moveInRows(view, row, table.count);
    case 'ArrowRight':
      return isShift ? { row, state: setSubtreeOpen(table, row, state, true) } : moveRight(view, row);
    case 'ArrowLeft':
      return isShift ? { row, state: setSubtreeOpen(table, row, state, false) } : moveLeft(view, row);
    case 'n':
      return jump(view, findRow(table, row, 1, isMatch), row);
    case 'N':
      return jump(view, findRow(table, row, -1, isMatch), row);
    case 'e':
      return jump(view, findRow(table, row, 1, isFailed), row);
    case 'E':
      return jump(view, findRow(table, row, -1, isFailed), row);
    case '$':
      return jump(view, findCostliest(table, row), row);
    case '*':
      return { row, state: openToLevel('all') };
    default:
      return /^[1-9]$/.test(key) ? keepInView(table, row, openToLevel(Number(key))) : null;
  }
}

export function isFailedCall(table: RunTable, row: number): boolean {
  return table.kind[row] === CALL && (table.errors[row] ?? 0) > 0;
}

export function countLevels(table: RunTable): number {
  let deepest = 0;
  for (let row = 0; row < table.count; row += 1)
    if (table.kind[row] === STEP) deepest = Math.max(deepest, table.depth[row] ?? 0);
  return deepest + 1;
}
