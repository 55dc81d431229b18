/** Which rows of a run a text is found in: names, models, providers, errors, flags, or the beginning of a call's id. */
import { callIdAt, isCallRow, type RunTable } from './run-table.ts';

export interface Matches {
  readonly count: number;
  readonly isMatch: Uint8Array;
  /** 1 for a row that matches or has a match beneath it. */
  readonly hasMatch: Uint8Array;
}

const SHORTEST_ID_TEXT = 8;

/** Null without a text. Each distinct text is compared once, not once a row. */
export function searchTable(table: RunTable, q: string): Matches | null {
  const wanted = q.trim().toLowerCase();
  if (wanted === '') return null;
  const found = table.texts.map((text) => text !== '' && text.toLowerCase().includes(wanted));
  const isId = wanted.length >= SHORTEST_ID_TEXT && /^[0-9a-f-]+$/.test(wanted);
  const columns = [
    table.name,
    table.model,
    table.provider,
    table.outcome,
    table.errorType,
    table.errorMessage,
    table.flags,
  ];
  const isMatch = new Uint8Array(table.count);
  const hasMatch = new Uint8Array(table.count);
  let count = 0;
  for (let row = table.count - 1; row >= 0; row -= 1) {
    const matches =
      columns.some((column) => found[column[row] ?? 0] === true) ||
      (isId && isCallRow(table, row) && callIdAt(table, row).startsWith(wanted));
    if (matches) {
      isMatch[row] = 1;
      hasMatch[row] = 1;
      count += 1;
    }
    // What is beneath a row comes after it, so its own answer is complete when it is handed up.
    const parent = table.parent[row] ?? -1;
    if (parent >= 0 && hasMatch[row] === 1) hasMatch[parent] = 1;
  }
  return { count, isMatch, hasMatch };
}
