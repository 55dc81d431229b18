/** The rows that are shown, in order: what is open, and with "matches only" what matches, is above a match, or in one. */
import { isOpen, type OpenState } from './open-state.ts';
import type { RunTable } from './run-table.ts';
import type { Matches } from './search-table.ts';

/** `matches` not null: only those are shown, with what is above them; the way to a match is open. */
export function listVisibleRows(table: RunTable, state: OpenState, matches: Matches | null): Int32Array {
  const rows = new Int32Array(table.count);
  let count = 0;
  /** Rows before this one are beneath a match: all of them may be shown. */
  let matchEnd = 0;
  for (let row = 0; row < table.count; ) {
    const end = table.end[row] ?? row + 1;
    const hasMatch = matches?.hasMatch[row] === 1;
    if (matches !== null && !hasMatch && row >= matchEnd) {
      row = end;
      continue;
    }
    rows[count] = row;
    count += 1;
    if (matches?.isMatch[row] === 1) matchEnd = Math.max(matchEnd, end);
    row = isRowOpen(table, row, state, matches) ? row + 1 : end;
  }
  return rows.subarray(0, count);
}

/**
 * As `isOpen`. While only matches are shown, a step with a match beneath it is open unless somebody closed it, and one
 * without is closed unless somebody opened it.
 */
export function isRowOpen(table: RunTable, row: number, state: OpenState, matches: Matches | null): boolean {
  if (matches === null) return isOpen(table, row, state);
  const key = table.keys[table.slot[row] ?? 0] ?? '';
  const changed = state.changed.get(key);
  if (changed !== undefined) return changed;
  if (state.level === 'all') return true;
  const end = table.end[row] ?? row;
  for (let child = row + 1; child < end; child = table.end[child] ?? end)
    if (matches.hasMatch[child] === 1) return true;
  return false;
}

/** Where a row stands among the visible ones; when it is hidden, where the nearest row above it stands. */
export function findPosition(table: RunTable, rows: Int32Array, row: number): number {
  for (let one = row; one >= 0; one = table.parent[one] ?? -1) {
    const position = positionOf(rows, one);
    if (position !== null) return position;
  }
  return 0;
}

function positionOf(rows: Int32Array, row: number): number | null {
  let [low, high] = [0, rows.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = rows[middle] ?? 0;
    if (value === row) return middle;
    if (value < row) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
