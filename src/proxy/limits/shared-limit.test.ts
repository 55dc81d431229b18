/** Several processes with one bank, whatever order their messages come in: never more than the limit, and nothing is lost. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLimitBank, type LimitBank } from '../../supervisor/limits/limit-bank.ts';
import type { Credits, Limit, LimitAnswer, LimitAsk, LimitRecall, LimitReturn } from '../../vocabulary/limit.ts';
import { type Booking, LimitPurses } from './limit-purses.ts';

const SLOT: Credits = { slots: 1, requests: 0, tokens: 0 };

/** A proxy process: messages wait in both directions until they are delivered, in order. */
class Process {
  readonly purses: LimitPurses;
  readonly held: Booking[] = [];
  readonly #bank: LimitBank;
  readonly #up: (LimitAsk | LimitReturn)[] = [];
  readonly #down: (LimitAnswer | LimitRecall)[] = [];
  asked = 0;

  constructor(bank: LimitBank) {
    this.#bank = bank;
    this.purses = new LimitPurses((message) => this.#up.push(message) > 0);
  }

  readonly send = (message: LimitAnswer | LimitRecall): boolean => this.#down.push(message) > 0;

  take(limit: Limit, need = SLOT): void {
    const taken = this.purses.take('key:1', limit, need);
    if (!(taken instanceof Promise)) {
      this.held.push(taken);
      return;
    }
    this.asked += 1;
    void taken.then((each) => {
      this.asked -= 1;
      if (each !== null && !('kind' in each)) this.held.push(each);
    });
  }

  release(): void {
    const booking = this.held.pop();
    if (booking !== undefined) this.purses.give(booking.subject, booking.credits);
  }

  deliverUp(): boolean {
    const message = this.#up.shift();
    if (message === undefined) return false;
    if (message.type === 'limit-ask') this.#bank.ask(this, message);
    else this.#bank.giveBack(this, message);
    return true;
  }

  async deliverDown(): Promise<boolean> {
    const message = this.#down.shift();
    if (message === undefined) return false;
    if (message.type === 'limit-answer') this.purses.onAnswer(message);
    else this.purses.onRecall(message.subject);
    await Promise.resolve();
    return true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const WORDS = ['take', 'take', 'release', 'up', 'up', 'down', 'down', 'sweep', 'die'] as const;

test('calls at once are never more than the limit, and every slot is free when all have ended', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.tuple(fc.constantFrom(...WORDS), fc.integer({ min: 0, max: 2 })), { maxLength: 400 }),
      async (concurrent, steps) => {
        const limit = { concurrent };
        const bank = createLimitBank(() => Date.now());
        const processes = [new Process(bank), new Process(bank), new Process(bank)];
        for (const [what, index] of steps) {
          const one = processes[index];
          if (one === undefined) continue;
          if (what === 'take') one.take(limit);
          else if (what === 'release') one.release();
          else if (what === 'up') one.deliverUp();
          else if (what === 'down') await one.deliverDown();
          else if (what === 'sweep') one.purses.returnAll();
          else {
            one.purses.close();
            bank.ended(one);
            processes[index] = new Process(bank);
          }
          vi.advanceTimersByTime(3);
          expect(processes.reduce((sum, { held }) => sum + held.length, 0)).toBeLessThanOrEqual(concurrent);
        }
        for (let round = 0; round < 50; round += 1) {
          for (const one of processes) {
            while (one.deliverUp());
            while (await one.deliverDown());
            while (one.held.length > 0) one.release();
            one.purses.returnAll();
          }
          vi.advanceTimersByTime(100);
        }
        expect(processes.map(({ asked, held }) => [asked, held.length])).toEqual([
          [0, 0],
          [0, 0],
          [0, 0],
        ]);
        expect(bank.listUse().map(({ slots }) => slots)).toEqual(bank.listUse().map(() => 0));
        for (const one of processes) one.purses.close();
      },
    ),
    { numRuns: 300 },
  );
});

test('a burst of as many calls as are allowed at once passes, and not one more', async () => {
  const limit = { concurrent: 100 };
  const bank = createLimitBank(() => Date.now());
  const one = new Process(bank);
  for (let call = 0; call < 101; call += 1) one.take(limit);
  while (one.deliverUp());
  while (await one.deliverDown());
  await Promise.resolve();
  expect([one.held.length, one.asked]).toEqual([100, 0]);
  one.purses.close();
});

test('a burst of as many calls as are allowed in a minute passes', async () => {
  const bank = createLimitBank(() => Date.now());
  const one = new Process(bank);
  for (let call = 0; call < 100; call += 1) one.take({ requestsPerMinute: 100 }, { ...SLOT, slots: 0, requests: 1 });
  while (one.deliverUp());
  while (await one.deliverDown());
  await Promise.resolve();
  expect([one.held.length, one.asked]).toEqual([100, 0]);
  one.purses.close();
});

test('a call passes when nobody answers in time, that is said, and what comes too late is given back', async () => {
  const sent: (LimitAsk | LimitReturn)[] = [];
  let unanswered = 0;
  const purses = new LimitPurses(
    (message) => sent.push(message) > 0,
    () => {
      unanswered += 1;
    },
  );
  const taking = purses.take('key:1', { concurrent: 1 }, SLOT);
  vi.advanceTimersByTime(1_000);
  expect(await taking).toBeNull();
  expect(unanswered).toBe(1);
  purses.onAnswer({ type: 'limit-answer', ask: 1, subject: 'key:1', granted: SLOT, refusal: null });
  vi.advanceTimersByTime(500);
  expect(sent.at(-1)).toEqual({ type: 'limit-return', subject: 'key:1', credits: SLOT, isAll: true });
  purses.close();
  const gone = new LimitPurses(() => false);
  expect(await gone.take('key:1', { concurrent: 1 }, SLOT)).toBeNull();
  gone.close();
});
