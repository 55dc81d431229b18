/** The set against one that is simple, and its bound. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_RANGES, OrdinalSet, OrdinalsData } from './ordinal-set.ts';

test('numbers that come in nearly their order are kept as ranges', () => {
  const set = new OrdinalSet();
  for (const ordinal of [2, 1, 3, 7, 5, 3, 6]) set.add(ordinal);
  expect(set.toData()).toEqual({
    ranges: [
      [1, 3],
      [5, 7],
    ],
  });
  expect([set.size, set.has(4), set.has(5)]).toEqual([6, false, true]);
});

test('whatever is added and taken out, it says the same as a plain set', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'delete'), fc.integer({ min: 1, max: 40 })), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(steps, (list) => {
      const set = new OrdinalSet();
      const plain = new Set<number>();
      for (const [step, ordinal] of list) {
        const isChanged = plain.has(ordinal) === (step === 'delete');
        expect(step === 'add' ? set.add(ordinal) : set.delete(ordinal)).toBe(isChanged);
        if (step === 'add') plain.add(ordinal);
        else plain.delete(ordinal);
      }
      expect([...set]).toEqual([...plain].sort((a, b) => a - b));
      expect(set.size).toBe(plain.size);
      const stored = OrdinalsData.parse(JSON.parse(JSON.stringify(set.toData())));
      expect(new OrdinalSet(stored).toData()).toEqual(set.toData());
    }),
  );
});

test('beyond its bound it remembers how many are missing in front, and still counts each that comes', () => {
  const set = new OrdinalSet();
  for (let ordinal = 2; ordinal <= 2 * (MAX_RANGES + 10); ordinal += 2) set.add(ordinal);
  expect(set.toData().ranges).toHaveLength(MAX_RANGES);
  expect([set.size, set.toData().gap]).toEqual([MAX_RANGES + 10, 10]);
  expect([set.add(3), set.size, set.toData().gap]).toEqual([true, MAX_RANGES + 11, 9]);
});

test('what a file holds in its place is not taken for a set', () => {
  for (const value of [
    null,
    7,
    {},
    { ranges: [[2, 1]] },
    {
      ranges: [
        [1, 2],
        [2, 3],
      ],
    },
    { ranges: [], gap: -1 },
  ])
    expect(OrdinalsData.safeParse(value).success).toBe(false);
});
