import { expect, test } from 'vitest';
import { addLiveRows, joinRows, MAX_LIVE_ROWS, NO_LIVE_ROWS, showAll } from './live-rows.ts';

const row = (id: number | string) => ({ id: String(id) });
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join(' ');

test('new calls stand on top, newest first, and none twice', () => {
  const live = addLiveRows(addLiveRows(NO_LIVE_ROWS, [row(1), row(2)], false), [row(2), row(3)], false);
  expect(ids(live.shown)).toBe('3 2 1');
  expect(ids(joinRows(live, [row(1), row(0)]))).toBe('3 2 1 0');
});

test('while one reads further down they are held back until they are asked for', () => {
  const live = addLiveRows(addLiveRows(NO_LIVE_ROWS, [row(1)], false), [row(2), row(3)], true);
  expect([ids(live.shown), ids(live.held)]).toEqual(['1', '3 2']);
  expect(ids(showAll(live).shown)).toBe('3 2 1');
});

test('their number is bounded, and a gap is never hidden', () => {
  const many = Array.from({ length: MAX_LIVE_ROWS + 10 }, (_, index) => row(index));
  const live = addLiveRows(NO_LIVE_ROWS, many, false);
  expect(live.shown).toHaveLength(MAX_LIVE_ROWS);
  expect(live.hasGap).toBe(true);
  expect(joinRows(live, [row('old')])).toHaveLength(MAX_LIVE_ROWS);
  const held = addLiveRows(NO_LIVE_ROWS, many, true);
  expect([held.held.length, held.hasGap]).toEqual([MAX_LIVE_ROWS, true]);
});
