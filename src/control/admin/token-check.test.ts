import { pino } from 'pino';
import { expect, test } from 'vitest';
import { watchAdminAccess } from './admin-access.ts';
import { createTokenCheck, type TokenVerdict } from './token-check.ts';

const STRONG = 'a-token-of-thirty-two-characters';
const WEAK = 'sixteen-letters!';
const RIGHT: TokenVerdict = { kind: 'right' };
const WRONG: TokenVerdict = { kind: 'wrong' };

function start() {
  const clock = { nowMs: 0 };
  const access = watchAdminAccess(pino({ level: 'silent' }), () => clock.nowMs);
  const { judge } = createTokenCheck(access, () => clock.nowMs);
  return { clock, access, judge };
}

test('after ten wrong tokens within a minute a client is told to wait until the first is a minute old', () => {
  const { clock, access, judge } = start();
  for (let guess = 0; guess < 10; guess += 1) {
    expect(judge('guess', [STRONG], '10.0.0.1')).toEqual(WRONG);
    clock.nowMs += 1_000;
  }
  expect(judge('guess', [STRONG], '10.0.0.1')).toEqual({ kind: 'limited', waitMs: 50_000 });
  expect(judge('guess', [STRONG], '10.0.0.2')).toEqual(WRONG);
  clock.nowMs = 60_000;
  expect(judge('guess', [STRONG], '10.0.0.1')).toEqual(WRONG);
  expect(judge('guess', [STRONG], '10.0.0.1')).toEqual({ kind: 'limited', waitMs: 1_000 });
  expect(access.figures()).toEqual({
    wrongTokens: 14,
    latestWrongToken: { atMs: 60_000, from: '10.0.0.1' },
    closedConnections: 0,
  });
});

test('a long token counts however many wrong ones come from its client, a short one waits with them', () => {
  for (const [token, expected] of [
    [STRONG, RIGHT],
    [WEAK, { kind: 'limited', waitMs: 60_000 }],
  ] as const) {
    const { judge } = start();
    for (let guess = 0; guess < 10; guess += 1) judge('guess', [token], '10.0.0.1');
    expect(judge(token, [token], '10.0.0.1')).toEqual(expected);
    expect(judge(token, [token], '10.0.0.2')).toEqual(RIGHT);
  }
});

test('of several tokens any counts, and where one of them is short, all wait', () => {
  const { judge } = start();
  expect(judge(WEAK, [STRONG, WEAK], '10.0.0.1')).toEqual(RIGHT);
  for (let guess = 0; guess < 10; guess += 1) judge('guess', [STRONG, WEAK], '10.0.0.1');
  expect(judge(STRONG, [STRONG, WEAK], '10.0.0.1').kind).toBe('limited');
});

test('the client that failed the longest ago of a thousand is forgotten', () => {
  const { judge } = start();
  for (let guess = 0; guess < 10; guess += 1) judge('guess', [WEAK], 'first');
  expect(judge('guess', [WEAK], 'first').kind).toBe('limited');
  for (let client = 0; client < 1_000; client += 1) judge('guess', [WEAK], `client ${client}`);
  expect(judge('guess', [WEAK], 'first')).toEqual(WRONG);
});
