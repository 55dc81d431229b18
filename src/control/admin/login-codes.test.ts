import { expect, test } from 'vitest';
import { createLoginCodes } from './login-codes.ts';

const noDatabase = () => null;

test('while the database is away a code counts once, within ten minutes, and no other text does', async () => {
  let nowMs = 1_000_000;
  const codes = createLoginCodes(
    noDatabase,
    () => true,
    () => nowMs,
  );
  const { code, expiresAtMs } = await codes.create();
  expect(expiresAtMs).toBe(1_600_000);
  expect(code).toMatch(/^[\w-]{43}$/);
  expect([
    await codes.redeem(`${code}x`),
    await codes.redeem(''),
    await codes.redeem(code),
    await codes.redeem(code),
  ]).toEqual([false, false, true, false]);
  const late = (await codes.create()).code;
  nowMs += 600_000;
  expect(await codes.redeem(late)).toBe(false);
});

test('the oldest of more than a hundred codes gives way', async () => {
  const codes = createLoginCodes(noDatabase, () => true);
  const made: string[] = [];
  for (let number = 0; number <= 100; number += 1) made.push((await codes.create()).code);
  const redeemed = [];
  for (const code of made) redeemed.push(await codes.redeem(code));
  expect(redeemed).toEqual([false, ...Array.from({ length: 100 }, () => true)]);
});
