import { expect, test } from 'vitest';
import { createGuessLimit } from './guess-limit.ts';
import { createLoginCodes } from './login-codes.ts';

test('a code counts once, within ten minutes, and no other text does', () => {
  let nowMs = 1_000_000;
  const codes = createLoginCodes(() => nowMs);
  const { code, expiresAtMs } = codes.create();
  expect(expiresAtMs).toBe(1_600_000);
  expect(code).toMatch(/^[\w-]{43}$/);
  expect([codes.redeem(`${code}x`), codes.redeem(''), codes.redeem(code), codes.redeem(code)]).toEqual([
    ...[false, false, true, false],
  ]);
  const late = codes.create().code;
  nowMs += 600_000;
  expect(codes.redeem(late)).toBe(false);
});

test('the oldest of more than a hundred codes gives way', () => {
  const codes = createLoginCodes();
  const made = Array.from({ length: 101 }, () => codes.create().code);
  expect(made.map(codes.redeem)).toEqual([false, ...Array.from({ length: 100 }, () => true)]);
});

test('after ten failures within a minute no more are taken until the first is a minute old', () => {
  let nowMs = 0;
  const limit = createGuessLimit(() => nowMs);
  for (let failure = 0; failure < 10; failure += 1) {
    expect(limit.waitMs()).toBe(0);
    limit.fail();
    nowMs += 1_000;
  }
  expect(limit.waitMs()).toBe(50_000);
  nowMs = 60_000;
  expect(limit.waitMs()).toBe(0);
  limit.fail();
  expect(limit.waitMs()).toBe(1_000);
});
