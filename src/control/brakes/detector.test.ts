import { expect, test } from 'vitest';
import type { Fact } from './brake-facts.ts';
import { type EffectiveRule, USUAL_RULES } from './brake-rules.ts';
import { createDetector, type DetectedHit } from './detector.ts';

const NOON_MS = Date.UTC(2026, 10, 29, 12);

let number = 0;
function fact(secondsAfterNoon: number, given: Partial<Fact> = {}): Fact {
  number += 1;
  return {
    accountId: 1,
    id: `call ${number}`,
    atMs: NOON_MS + secondsAfterNoon * 1_000,
    keyId: 7,
    run: 'r1',
    thread: 'main gpt-5',
    cost: '0.01',
    isUnpriced: false,
    isFailed: false,
    attempt: 0,
    promptTokens: 5_000,
    cachedTokens: 4_000,
    request: `request ${number}`,
    conversation: `conversation ${number}`,
    toolCalls: `tools ${number}`,
    ...given,
  };
}

function run(facts: readonly Fact[], rules: readonly EffectiveRule[] = USUAL_RULES): readonly DetectedHit[] {
  const detector = createDetector();
  return facts.flatMap((one) => detector.note(one, rules, one.atMs));
}

const times = <T = Fact>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (hits: readonly DetectedHit[]) => hits.map(({ rule, scope, value }) => `${rule} ${scope} ${value}`);

test('an agent at work hits nothing', () => {
  expect(run(times(300, (index) => fact(index * 4)))).toEqual([]);
});

test('the same conversation is hit with the twentieth time, once', () => {
  const hits = run(times(40, (index) => fact(index, { conversation: 'stuck' })));
  expect(named(hits)).toEqual(['same_prefix run r1']);
  expect(hits[0]).toMatchObject({
    action: 'alarm',
    reason: 'the same conversation was sent 20 times within 600 s',
    numbers: { found: 20, times: 20, window_seconds: 600 },
  });
  // The same, too slow to be a loop.
  expect(run(times(40, (index) => fact(index * 60, { conversation: 'stuck' })))).toEqual([]);
});

test('the same call of a tool, failures of one request, and calls without a price', () => {
  expect(named(run(times(15, (index) => fact(index, { toolCalls: 'grep' }))))).toEqual(['same_tool_call run r1']);
  expect(run(times(14, (index) => fact(index, { toolCalls: 'grep' })))).toEqual([]);
  expect(named(run(times(12, (index) => fact(index, { request: 'same', isFailed: true }))))).toEqual([
    'retries run r1',
  ]);
  expect(run(times(50, (index) => fact(index, { request: 'same' })))).toEqual([]);
  expect(named(run(times(200, (index) => fact(index, { cost: null, isUnpriced: true }))))).toEqual(['unpriced run r1']);
});

test('the speed of spending is compared with before, for the run and its key', () => {
  const before = times(20, (index) => fact(index * 60, { cost: '0.10' }));
  const hits = run([...before, ...times(6, (index) => fact(1_210 + index, { cost: '1.00' }))]);
  expect(named(hits)).toEqual(['spend_speed run r1', 'spend_speed key 7']);
  expect(hits[0]?.reason).toBe('$5.40 within 300 s, where it was $0.52 before');
  // Below $5, and without anything to compare with.
  expect(run([...before, ...times(4, (index) => fact(1_210 + index, { cost: '1.00' }))])).toEqual([]);
  expect(run(times(50, (index) => fact(index, { cost: '1.00' })))).toEqual([]);
});

test('calls within a minute', () => {
  expect(named(run(times(601, (index) => fact(index / 20))))).toEqual(['call_rate run r1']);
  expect(run(times(600, (index) => fact(index / 20)))).toEqual([]);
});

test('a cache that is not read any more, while prompts grow', () => {
  const before = times(5, (index) => fact(index * 10, { promptTokens: 8_000, cachedTokens: 7_000 }));
  const grown = times(8, (index) => fact(100 + index, { promptTokens: 9_000, cachedTokens: 100 }));
  expect(named(run([...before, ...grown]))).toEqual(['cache_collapse run r1']);
  expect(run([...before, ...grown.slice(1)])).toEqual([]);
  const smaller = times(8, (index) => fact(100 + index, { promptTokens: 5_000, cachedTokens: 100 }));
  expect(run([...before, ...smaller])).toEqual([]);
  // Other agents of the run have caches of their own.
  const others = times(8, (index) =>
    fact(100 + index, { promptTokens: 9_000, cachedTokens: 0, thread: `sub ${index}` }),
  );
  expect(run([...before, ...others])).toEqual([]);
});

test('a rule pauses where it is said to, and not for calls of long ago; resumed, it begins anew', () => {
  const rules = USUAL_RULES.map((rule) => (rule.rule === 'same_prefix' ? { ...rule, action: 'pause' as const } : rule));
  const loop = times(20, (index) => fact(index, { conversation: 'stuck', run: null }));
  // Of a key as well, which has the same thresholds.
  expect(run(loop, rules)).toMatchObject([{ rule: 'same_prefix', scope: 'key', action: 'pause' }]);
  const detector = createDetector();
  const late = loop.flatMap((one) => detector.note(one, rules, NOON_MS + 3_600_000));
  expect(late.map(({ action }) => action)).toEqual(['alarm']);
  detector.beginAnew({ accountId: 1, scope: 'key', value: '7' }, NOON_MS + 60_000);
  const again = times(20, (index) => fact(50 + index, { conversation: 'stuck', run: null }));
  expect(again.flatMap((one) => detector.note(one, rules, one.atMs))).toEqual([]);
  const afresh = times(20, (index) => fact(80 + index, { conversation: 'stuck', run: null }));
  expect(afresh.flatMap((one) => detector.note(one, rules, one.atMs))).toHaveLength(1);
});

test('accounts and runs stand apart, and the least recently seen is forgotten', () => {
  const detector = createDetector(2);
  const note = (one: Fact) => detector.note(one, USUAL_RULES, one.atMs);
  const stuck = (runId: string) => fact(1, { run: runId, conversation: 'stuck' });
  expect(times(30, (index) => stuck(`r${index % 3}`)).flatMap(note)).toEqual([]);
  expect(times(40, (index) => fact(1, { accountId: index % 4, conversation: 'stuck' })).flatMap(note)).toEqual([]);
});

/** Stored in the order of their ends. */
const byEnd = (facts: readonly { readonly fact: Fact; readonly endS: number }[]) =>
  facts.toSorted((a, b) => a.endS - b.endS).map((one) => one.fact);

test('a long call counts where it began, not with everything since', () => {
  const ruleOf = (rule: EffectiveRule['rule']) => USUAL_RULES.filter((one) => one.rule === rule);
  const quick = (make: (second: number) => Fact, everyS: number) =>
    times(Math.floor(1_300 / everyS), (index) => ({ fact: make(index * everyS), endS: index * everyS + 0.4 }));
  const withLong = (make: (second: number) => Fact, everyS: number) =>
    byEnd([...quick(make, everyS), { fact: make(600), endS: 1_200.5 }]);
  // Two calls a second are a fifth of what may be within a minute.
  expect(run(withLong((second) => fact(second), 0.5))).toEqual([]);
  expect(
    run(
      withLong((second) => fact(second, { conversation: 'same' }), 40),
      ruleOf('same_prefix'),
    ),
  ).toEqual([]);
  const unpriced = ruleOf('unpriced').map((one) => ({ ...one, settings: { calls: 200, window_seconds: 60 } }));
  expect(
    run(
      withLong((second) => fact(second, { isUnpriced: true }), 0.5),
      unpriced,
    ),
  ).toEqual([]);
  // Spent evenly: what came after the long call began is no more speed than what came before.
  const speed = ruleOf('spend_speed').map((one) => ({
    ...one,
    settings: { window_seconds: 30, factor: 2, least_usd: 1 },
  }));
  expect(
    run(
      withLong((second) => fact(second, { cost: '0.10' }), 0.5),
      speed,
    ),
  ).toEqual([]);
});

test('what is stored in another order than it began is found all the same', () => {
  // The last to begin is stored first.
  const burst = times(601, (index) => fact(index / 20)).toReversed();
  expect(named(run(burst))).toEqual(['call_rate run r1']);
  const stuck = times(20, (index) => fact(index, { conversation: 'stuck' })).toReversed();
  expect(named(run(stuck))).toEqual(['same_prefix run r1']);
  expect(run(stuck)[0]?.reason).toBe('the same conversation was sent 20 times within 600 s');
  const before = times(20, (index) => fact(index * 60, { cost: '0.10' })).toReversed();
  const dear = times(6, (index) => fact(1_210 + index, { cost: '1.00' })).toReversed();
  expect(named(run([...before, ...dear]))).toEqual(['spend_speed run r1', 'spend_speed key 7']);
});

const withSettings = (name: EffectiveRule['rule'], settings: EffectiveRule['settings']) =>
  USUAL_RULES.filter(({ rule }) => rule === name).map((one) => ({
    ...one,
    settings: { ...one.settings, ...settings },
  }));

test('the greatest thresholds hold as well', () => {
  const most = { times: 200, window_seconds: 3_600 };
  const loop = (count: number) => times(count, (index) => fact(index * 10, { conversation: 'stuck' }));
  expect(named(run(loop(200), withSettings('same_prefix', most)))).toEqual(['same_prefix run r1']);
  expect(run(loop(199), withSettings('same_prefix', most))).toEqual([]);
  const before = times(5, (index) => fact(index, { promptTokens: 8_000, cachedTokens: 7_000 }));
  const grown = (count: number) =>
    times(count, (index) => fact(100 + index, { promptTokens: 9_000, cachedTokens: 100 }));
  const collapse = withSettings('cache_collapse', { calls: 50 });
  expect(named(run([...before, ...grown(50)], collapse))).toEqual(['cache_collapse run r1']);
  expect(run([...before, ...grown(49)], collapse)).toEqual([]);
});

test('a factor with a fraction is not rounded, and a window with one, from before such were refused, stops nothing', () => {
  // 0.51 in the first 321 seconds, 1.59 in the 300 since: 3.34 times as much.
  const before = times(30, (index) => fact(index * 20, { cost: '0.03' }));
  const dear = times(12, (index) => fact(610 + index, { cost: '0.10' }));
  const speed = (factor: number, seconds = 300) =>
    withSettings('spend_speed', { factor, least_usd: 1, window_seconds: seconds }).filter(
      ({ scope }) => scope === 'run',
    );
  expect(run([...before, ...dear], speed(3.4))).toEqual([]);
  expect(named(run([...before, ...dear], speed(3.3)))).toEqual(['spend_speed run r1']);
  expect(named(run([...before, ...dear], speed(3, 300.0001)))).toEqual(['spend_speed run r1']);
});
