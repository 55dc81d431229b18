import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseOpenState, isOpen, openToLevel, reveal, setOpen } from './open-state.ts';
import { createRunModel } from './run-model.ts';
import { findCall, findKey, nameAt, type RunTable } from './run-table.ts';
import { searchTable } from './search-table.ts';
import { callId, type ShortCall, toColumns } from './test-columns.ts';
import { applyKey, countMatch, findCostliest, type TreeView, toggleRow } from './tree-keys.ts';
import { listVisibleRows } from './visible-rows.ts';

function build(calls: readonly ShortCall[]): RunTable {
  const model = createRunModel();
  model.addCalls(toColumns(calls));
  return model.build(true);
}

const TABLE = build([
  { path: 'plan', name: 'think', cost: '0.2' },
  { path: 'plan/search', name: 'ask', cost: '0.5' },
  { path: 'plan/search', name: 'ask again', outcome: 'upstream_error', cost: '0' },
  { path: 'write', name: 'draft', cost: '0.1' },
  { path: 'write/check', name: 'ask once more', cost: '0.05' },
]);

function names(table: RunTable, rows: Int32Array): readonly string[] {
  return [...rows].map((row) => (row === 0 ? 'run' : nameAt(table, row)));
}

function view(overrides: Partial<TreeView> = {}): TreeView {
  const state = overrides.state ?? openToLevel(1);
  const matches = overrides.matches ?? null;
  const isOnlyMatches = overrides.isOnlyMatches ?? false;
  const rows = listVisibleRows(TABLE, state, isOnlyMatches ? matches : null);
  return { table: TABLE, rows, state, matches, isOnlyMatches };
}

const rowOf = (key: string) => findKey(TABLE, key) ?? -1;

test('a level shows the run down to it', () => {
  const shown = (level: number | 'all') => names(TABLE, listVisibleRows(TABLE, openToLevel(level), null));
  expect(shown(1)).toEqual(['run', 'plan', 'write']);
  expect(shown(2)).toEqual(['run', 'plan', 'think', 'search', 'write', 'draft', 'check']);
  expect(shown('all')).toHaveLength(TABLE.count);
});

test('a step that is opened against the level shows what is in it', () => {
  const state = setOpen(TABLE, [rowOf('write')], openToLevel(1), true);
  expect(names(TABLE, listVisibleRows(TABLE, state, null))).toEqual(['run', 'plan', 'write', 'draft', 'check']);
});

test('with matches only, matches and what is above them are shown, and the rest is not', () => {
  const matches = searchTable(TABLE, 'ASK');
  expect(matches?.count).toBe(3);
  expect(names(TABLE, listVisibleRows(TABLE, openToLevel(1), matches))).toEqual([
    'run',
    'plan',
    'search',
    'ask',
    'ask again',
    'write',
    'check',
    'ask once more',
  ]);
});

test('with matches only, a step that matches can be opened to all that is in it', () => {
  const matches = searchTable(TABLE, 'write');
  const shown = (state = openToLevel(1)) => names(TABLE, listVisibleRows(TABLE, state, matches));
  expect(shown()).toEqual(['run', 'write']);
  expect(shown(openToLevel(9))).toEqual(['run', 'write']);
  expect(shown(setOpen(TABLE, [rowOf('write')], openToLevel(1), true))).toEqual(['run', 'write', 'draft', 'check']);
});

test('with matches only, a step on the way to a match can still be closed', () => {
  const matches = searchTable(TABLE, 'ask');
  const state = toggleRow(view({ matches, isOnlyMatches: true }), rowOf('plan'));
  expect(names(TABLE, listVisibleRows(TABLE, state, matches))).toEqual([
    'run',
    'plan',
    'write',
    'check',
    'ask once more',
  ]);
});

test('a call is found by the beginning of its id, an error by its outcome, and an empty text finds nothing', () => {
  expect(searchTable(TABLE, callId(3))?.count).toBe(1);
  expect(searchTable(TABLE, 'upstream_error')?.count).toBe(1);
  expect(searchTable(TABLE, '  ')).toBe(null);
});

test('right opens, then goes in; left closes, then goes out', () => {
  const plan = rowOf('plan');
  const opened = applyKey(view(), plan, 'ArrowRight', false);
  expect([opened?.row, isOpen(TABLE, plan, opened?.state ?? openToLevel(1))]).toEqual([plan, true]);
  const inside = applyKey(view(opened ?? {}), plan, 'ArrowRight', false);
  expect(nameAt(TABLE, inside?.row ?? 0)).toBe('think');
  const outside = applyKey(view(opened ?? {}), inside?.row ?? 0, 'ArrowLeft', false);
  expect(outside?.row).toBe(plan);
  const closed = applyKey(view(opened ?? {}), plan, 'ArrowLeft', false);
  expect(isOpen(TABLE, plan, closed?.state ?? openToLevel('all'))).toBe(false);
});

test('down and up move among what is shown, Home and End to its ends, and none leaves it', () => {
  const [plan, write] = [rowOf('plan'), rowOf('write')];
  const press = (key: string, row: number) => applyKey(view(), row, key, false)?.row;
  expect([press('j', plan), press('ArrowUp', plan), press('k', 0)]).toEqual([write, 0, 0]);
  expect([press('End', 0), press('PageDown', 0), press('Home', write), press('j', write)]).toEqual([
    write,
    write,
    0,
    write,
  ]);
});

test('Shift with an arrow opens or closes all beneath', () => {
  const opened = applyKey(view(), rowOf('plan'), 'ArrowRight', true);
  expect(isOpen(TABLE, rowOf('plan/search'), opened?.state ?? openToLevel(1))).toBe(true);
  const closed = applyKey(view({ state: openToLevel('all') }), rowOf('plan'), 'ArrowLeft', true);
  expect(isOpen(TABLE, rowOf('plan/search'), closed?.state ?? openToLevel('all'))).toBe(false);
});

test('e goes to the next failed call and opens the way, $ to the costliest call, n to the next match', () => {
  const error = applyKey(view(), 0, 'e', false);
  expect(nameAt(TABLE, error?.row ?? 0)).toBe('ask again');
  expect(isOpen(TABLE, rowOf('plan/search'), error?.state ?? openToLevel(1))).toBe(true);
  expect(nameAt(TABLE, applyKey(view(), 0, '$', false)?.row ?? 0)).toBe('ask');
  expect(nameAt(TABLE, findCostliest(TABLE, rowOf('write')) ?? 0)).toBe('draft');
  const matches = searchTable(TABLE, 'ask');
  const next = applyKey(view({ matches }), 0, 'n', false);
  const before = applyKey(view({ matches }), 0, 'N', false);
  expect([nameAt(TABLE, next?.row ?? 0), nameAt(TABLE, before?.row ?? 0)]).toEqual(['ask', 'ask once more']);
  if (matches === null) throw new Error('no matches');
  expect([countMatch(matches, next?.row ?? 0), countMatch(matches, before?.row ?? 0)]).toEqual([1, 3]);
});

test('a digit closes deeper levels, and the focus stays on what is still shown', () => {
  const leaf = findCall(TABLE, callId(1)) ?? -1;
  const moved = applyKey(view({ state: openToLevel('all') }), leaf, '1', false);
  expect([moved?.row, moved?.state]).toEqual([rowOf('plan'), openToLevel(1)]);
  expect(applyKey(view(), 0, '*', false)?.state).toEqual(openToLevel('all'));
  expect(applyKey(view(), 0, 'x', false)).toBe(null);
});

test('a small run is open at once, a large one only so far that it can be read', () => {
  expect(chooseOpenState(TABLE)).toEqual(openToLevel(9));
  const parts = Array.from({ length: 1_000 }, (_, index) => ({
    path: `agent/part ${'abcdefghijklmnop'[index % 16]}`,
    name: `n${index}x`,
  }));
  expect(chooseOpenState(build(parts))).toEqual(openToLevel(2));
});

test('a run of nothing but repeats shows them', () => {
  const rounds = Array.from({ length: 400 }, (_, index) => ({ path: `agent/round ${index % 40}`, name: `n${index}x` }));
  const table = build(rounds);
  const rows = listVisibleRows(table, chooseOpenState(table), null);
  expect(names(table, rows).slice(0, 5)).toEqual(['run', 'agent', 'round', 'round 0', 'round 1']);
  expect(rows).toHaveLength(43);
});

test('whatever is open: a revealed row is shown, and every shown row has only open rows above it', () => {
  fc.assert(
    fc.property(
      fc.nat(TABLE.count - 1),
      fc.constantFrom(1, 2, 'all' as const),
      fc.array(fc.nat(TABLE.count - 1)),
      (row, level, closed) => {
        const state = reveal(TABLE, row, setOpen(TABLE, closed, openToLevel(level), false));
        const rows = listVisibleRows(TABLE, state, null);
        expect([...rows]).toContain(row);
        for (const shown of rows)
          for (let above = TABLE.parent[shown] ?? -1; above >= 0; above = TABLE.parent[above] ?? -1)
            expect(isOpen(TABLE, above, state)).toBe(true);
      },
    ),
  );
});
