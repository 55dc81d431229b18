import { expect, it } from 'vitest';
import { UsualCosts } from './usual-costs.ts';

it('is the cost that 99 of 100 calls do not exceed, a little rounded up', () => {
  const costs = new UsualCosts();
  for (let call = 1; call < 100; call += 1) costs.note('a', 1_000_000n * BigInt(call));
  expect(costs.find('a')).toBeNull();
  for (let call = 100; call <= 1_000; call += 1) costs.note('a', 1_000_000n * BigInt(call));
  const found = costs.find('a') ?? 0n;
  expect([found >= 990_000_000n, found < 1_060_000_000n]).toEqual([true, true]);
  expect(costs.find('b')).toBeNull();
});

it('passes over the one call in a hundred that is unlike the others', () => {
  const costs = new UsualCosts();
  for (let call = 0; call < 1_000; call += 1) costs.note('a', call % 100 === 7 ? 5_000_000_000n : 16n);
  expect(costs.find('a')).toBe(16n);
  for (let call = 0; call < 20; call += 1) costs.note('a', 5_000_000_000n);
  expect((costs.find('a') ?? 0n) >= 5_000_000_000n).toBe(true);
});

it('follows what calls cost now', () => {
  const costs = new UsualCosts();
  for (let call = 0; call < 10_000; call += 1) costs.note('a', 1_000n);
  for (let call = 0; call < 100_000; call += 1) costs.note('a', 100n);
  expect(costs.find('a')).toBeLessThan(110n);
});

it.each([1n, 31n, 32n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 70n])(
  'is no less than %s where all calls cost that, and at most a sixteenth more',
  (amount) => {
    const costs = new UsualCosts();
    for (let call = 0; call < 100; call += 1) costs.note('a', amount);
    const found = costs.find('a') ?? 0n;
    expect([found >= amount, found <= amount + amount / 16n]).toEqual([true, true]);
  },
);
