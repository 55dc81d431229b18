/** The limits of a node, with the real purses of several processes on the other end of the messages. */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type {
  Credits,
  Limit,
  LimitAnswer,
  LimitAsk,
  LimitRecall,
  LimitRefusal,
  LimitReturn,
} from '../../vocabulary/limit.ts';
import { createLimitBank, type LimitBank, type LimitChild } from './limit-bank.ts';
import { TokenBucket } from './token-bucket.ts';

const ONE: Credits = { slots: 0, requests: 1, tokens: 0 };
const SLOT: Credits = { slots: 1, requests: 0, tokens: 0 };

/** What one process asks and is told. */
class Child implements LimitChild {
  readonly answers: LimitAnswer[] = [];
  readonly recalls: LimitRecall[] = [];
  readonly #bank: LimitBank;
  #asks = 0;

  constructor(bank: LimitBank) {
    this.#bank = bank;
  }

  readonly send = (message: LimitAnswer | LimitRecall): boolean => {
    if (message.type === 'limit-answer') this.answers.push(message);
    else this.recalls.push(message);
    return true;
  };

  ask(subject: string, limit: Limit, need: Credits): LimitAsk {
    this.#asks += 1;
    const message: LimitAsk = {
      type: 'limit-ask',
      ask: this.#asks,
      subject,
      limit,
      need,
      back: { slots: 0, requests: 0, tokens: 0 },
      isAlone: true,
    };
    this.#bank.ask(this, message);
    return message;
  }

  last(): Credits | LimitRefusal | null {
    const answer = this.answers.at(-1);
    return answer?.granted ?? answer?.refusal ?? null;
  }

  giveBack(subject: string, credits: Credits, isAll: boolean): void {
    const message: LimitReturn = { type: 'limit-return', subject, credits, isAll };
    this.#bank.giveBack(this, message);
  }
}

test('a bucket never lets more through than its size and what flowed in meanwhile, whatever is tried when', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 60 })), { maxLength: 200 }),
      (capacity, tries) => {
        const bucket = new TokenBucket(capacity, 0);
        const taken: { readonly atMs: number; readonly amount: number }[] = [];
        let nowMs = 0;
        for (const [passedMs, amount] of tries) {
          nowMs += passedMs;
          const wanted = Math.min(amount, capacity);
          if (!bucket.has(wanted, nowMs)) {
            const waitMs = bucket.waitMs(wanted, nowMs);
            expect(waitMs).toBeGreaterThan(0);
            // Honest: then, and not much earlier.
            const copy = new TokenBucket(capacity, nowMs);
            copy.take(capacity - bucket.level(nowMs), nowMs);
            expect(copy.has(wanted, nowMs + waitMs)).toBe(true);
            continue;
          }
          bucket.take(wanted, nowMs);
          taken.push({ atMs: nowMs, amount: wanted });
        }
        for (const [from, first] of taken.entries()) {
          let sum = 0;
          for (const { atMs, amount } of taken.slice(from)) {
            sum += amount;
            expect(sum).toBeLessThanOrEqual(capacity * (1 + (atMs - first.atMs) / 60_000) + 1e-3);
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a limit is whole for each process, and what flows back lets the next one through when it was said', () => {
  let nowMs = 0;
  const bank = createLimitBank(() => nowMs);
  const [first, second] = [new Child(bank), new Child(bank)];
  const limit = { requestsPerMinute: 3 };
  for (const child of [first, second, first]) {
    child.ask('key:1', limit, ONE);
    expect(child.last()).toEqual(ONE);
  }
  // The first process has answered that it has nothing to spare.
  second.ask('key:1', limit, ONE);
  expect(first.recalls).toEqual([{ type: 'limit-recall', subject: 'key:1' }]);
  first.giveBack('key:1', { slots: 0, requests: 0, tokens: 0 }, true);
  expect(second.last()).toEqual({ kind: 'requests', limit: 3, remaining: 0, retryAfterMs: 20_000 });
  second.giveBack('key:1', { slots: 0, requests: 0, tokens: 0 }, true);
  nowMs = 19_999;
  first.ask('key:1', limit, ONE);
  expect(first.last()).toMatchObject({ kind: 'requests', retryAfterMs: 1 });
  nowMs = 20_000;
  first.ask('key:1', limit, ONE);
  expect(first.last()).toEqual(ONE);
});

test('what one process has to spare is another’s when that needs it', () => {
  const bank = createLimitBank(() => 0);
  const [first, second] = [new Child(bank), new Child(bank)];
  const limit = { concurrent: 100 };
  for (let call = 0; call < 33; call += 1) first.ask('key:1', limit, SLOT);
  // Three for each ask: one to use, two to spare.
  expect(first.last()).toEqual({ slots: 3, requests: 0, tokens: 0 });
  second.ask('key:1', limit, SLOT);
  expect(second.last()).toEqual(SLOT);
  second.ask('key:1', limit, SLOT);
  expect(first.recalls).toHaveLength(1);
  first.giveBack('key:1', { slots: 66, requests: 0, tokens: 0 }, true);
  expect(second.answers).toHaveLength(2);
  expect(second.last()).toMatchObject({ slots: 3 });
  expect(bank.listUse()).toEqual([{ subject: 'key:1', slots: 37, requests: 0, tokens: 0 }]);
});

test('who does not answer a recall holds nobody up, and the slots of an ended process are free', () => {
  vi.useFakeTimers();
  const bank = createLimitBank(() => Date.now());
  const [dead, other] = [new Child(bank), new Child(bank)];
  const limit = { concurrent: 1 };
  dead.ask('key:1', limit, SLOT);
  other.ask('key:1', limit, SLOT);
  expect(other.last()).toBeNull();
  vi.advanceTimersByTime(100);
  expect(other.last()).toMatchObject({ kind: 'slots', limit: 1, retryAfterMs: 1_000 });
  other.ask('key:1', limit, SLOT);
  bank.ended(dead);
  expect(other.last()).toEqual(SLOT);
  vi.useRealTimers();
});

test('each node has its share, and every limit lets at least one call through', () => {
  const bank = createLimitBank(() => 0);
  const child = new Child(bank);
  bank.setNodes(4);
  for (let call = 0; call < 3; call += 1) child.ask('key:1', { requestsPerMinute: 8 }, ONE);
  expect(child.last()).toMatchObject({ kind: 'requests', limit: 2 });
  child.ask('key:2', { concurrent: 2 }, SLOT);
  expect(child.last()).toEqual(SLOT);
});

test('a flood of made-up values fills no memory, and lifts nobody’s limit', () => {
  const bank = createLimitBank(() => 0);
  const child = new Child(bank);
  const limit = { requestsPerMinute: 1 };
  child.ask('limit:1=victim', limit, ONE);
  for (let value = 0; value < 30_000; value += 1) child.ask(`limit:1=${value}`, limit, ONE);
  // The first 20,000 have one each; all others share one.
  expect(child.answers.filter(({ granted }) => granted !== null)).toHaveLength(20_001);
  expect(child.answers.at(-1)?.subject).toBe('limit:1=\n');
  child.ask('limit:1=victim', limit, ONE);
  expect(child.last()).toMatchObject({ kind: 'requests' });
  expect(bank.listUse()).toHaveLength(1_000);
});

test('a limit that is lowered counts what was used before, and one that is raised gives the difference', () => {
  const bank = createLimitBank(() => 0);
  const child = new Child(bank);
  for (let call = 0; call < 5; call += 1) child.ask('key:1', { requestsPerMinute: 10 }, ONE);
  child.ask('key:1', { requestsPerMinute: 5 }, ONE);
  expect(child.last()).toMatchObject({ kind: 'requests', limit: 5 });
  child.ask('key:1', { requestsPerMinute: 6 }, ONE);
  expect(child.last()).toEqual(ONE);
});

test('more tokens than were estimated are a debt, fewer are given back, and one call may take a whole limit', () => {
  let nowMs = 0;
  const bank = createLimitBank(() => nowMs);
  const child = new Child(bank);
  const limit = { tokensPerMinute: 40 };
  const tokens = (amount: number): Credits => ({ slots: 0, requests: 0, tokens: amount });
  child.ask('key:1', limit, tokens(1_000));
  expect(child.last()).toEqual(tokens(40));
  child.giveBack('key:1', tokens(30), true);
  child.ask('key:1', limit, tokens(30));
  expect(child.last()).toEqual(tokens(30));
  child.giveBack('key:1', tokens(-20), true);
  child.ask('key:1', limit, tokens(1));
  expect(child.last()).toEqual({ kind: 'tokens', limit: 40, remaining: 0, retryAfterMs: 31_500 });
  nowMs = 31_500;
  child.ask('key:1', limit, tokens(1));
  expect(child.last()).toEqual(tokens(1));
});
