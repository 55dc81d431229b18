import { afterAll, expect, test, vi } from 'vitest';
import { createMeasurer } from './measurer.ts';

const measurer = createMeasurer({ taskMs: 30_000, idleMs: 30_000 });
afterAll(() => measurer.stop());

const json = (value: object) => ({ bytes: Buffer.from(JSON.stringify(value)), contentType: 'application/json' });
const prompt = (text: string) => ({ request: json({ prompt: text }), response: null });
const COUNTED = { isRough: false, isCjk: false, notCounted: [] };

test('counts are those of o200k_base, and marks of the format are text', async () => {
  const request = json({ messages: [{ role: 'user', content: 'Hello, world! <|endoftext|>' }] });
  const response = {
    bytes: Buffer.from(
      'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\ndata: {"choices":[{"index":0,"delta":{"content":"lo, world!"}}]}\n\n',
    ),
    contentType: 'text/event-stream',
  };
  expect(await measurer.measure({ request, response })).toEqual({
    // 11 of text, 4 for the message, 3 for the answer's beginning.
    prompt: { tokens: 18, ...COUNTED },
    // Both pieces together: Hello | , | world | !
    answer: { tokens: 4, ...COUNTED, tokensSinceReport: null, hasBegun: true },
  });
});

test('20,000 equal characters and a long text without a space are counted like anything else', async () => {
  expect(await measurer.measure(prompt('a'.repeat(20_000)))).toMatchObject({
    prompt: { tokens: 2_500, isRough: false },
  });
  expect(await measurer.measure(prompt('ab'.repeat(50_000)))).toMatchObject({
    prompt: { tokens: 25_000, isRough: false },
  });
});

test('bodies that cannot be read are answered with null, each for itself', async () => {
  const request = { bytes: Buffer.from('no json'), contentType: 'application/json' };
  expect(await measurer.measure({ request, response: json({ completion: 'Toll' }) })).toMatchObject({
    prompt: null,
    answer: { tokens: 2 },
  });
});

test('a task that takes too long ends its thread, and the next one gets another', async () => {
  const hurried = createMeasurer({ taskMs: 1, idleMs: 30_000 });
  expect(hurried.isRunning()).toBe(false);
  expect(await hurried.measure(prompt('late'))).toBeNull();
  expect(hurried.isRunning()).toBe(false);
  expect(await hurried.measure(prompt('late'))).toBeNull();
});

test('the thread ends after a while without work', async () => {
  const idle = createMeasurer({ taskMs: 30_000, idleMs: 1 });
  expect(await idle.measure(prompt('gate'))).toMatchObject({ prompt: { tokens: 1 } });
  await vi.waitFor(() => expect(idle.isRunning()).toBe(false), 30_000);
  await idle.stop();
});

test('a stop answers who waits', async () => {
  const stopped = createMeasurer({ taskMs: 600_000, idleMs: 30_000 });
  const answer = stopped.measure(prompt('gate'));
  await stopped.stop();
  expect(await answer).toBeNull();
});
