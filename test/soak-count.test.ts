/** What a soak counts as a fault: calls by hand, each with one thing wrong. The soak itself: test/gateway/soak.test.ts. */
import { describe, expect, it } from 'vitest';
import type { ClientCall } from '../bench/kill/load.ts';
import type { CountedRow } from '../bench/kill/tally.ts';
import { countSoak, type SoakNotes } from '../bench/soak/count-soak.ts';
import { planSoakCall } from '../bench/soak/plan-soak-call.ts';

const SEED = 1;
const planOf = (n: number) => planSoakCall(n, SEED);

function findNumber(test: (n: number) => boolean): number {
  const found = Array.from({ length: 500 }, (_, n) => n).find(test);
  if (found === undefined) throw new Error('no such call among the first 500');
  return found;
}

const plain = findNumber((n) => planOf(n).trouble === undefined && planOf(n).abort === undefined);
const cutAfterStart = findNumber((n) => {
  const { kind, trouble } = planOf(n);
  return kind === 'anthropic-stream' && trouble?.kind === 'cut' && trouble.pieces > 0;
});

function whole(n: number, change: Partial<ClientCall> = {}): ClientCall {
  return {
    ...{ n, id: planOf(n).id, ending: 'complete', status: 200, gatewayError: null, isRight: true, partOfBody: null },
    ...{ wasReused: false, startedMs: 1_000, durationMs: 100 },
    ...change,
  };
}

function rowOf(n: number, change: Partial<CountedRow> = {}): CountedRow {
  const { id, expected } = planOf(n);
  const { provider, traceId, inputTokens, cacheReadTokens, outputTokens, totalCost } = expected;
  return {
    ...{ callId: id, outcome: 'ok', status: 200, provider, traceId, inputTokens, cacheReadTokens, outputTokens },
    ...{ totalCost, knownCost: totalCost, durationMs: 90, endsBeforeItBegins: false },
    ...change,
  };
}

function count(call: ClientCall, rows: readonly CountedRow[], more: Partial<SoakNotes> = {}) {
  const { id, n } = call;
  return countSoak({
    calls: [call],
    provider: { ledger: new Map([[id, 1]]), written: new Map([[id, planOf(n).answer(true).join('')]]) },
    database: { rows, openCalls: 0, differences: [] },
    disturbances: [],
    planOf,
    misread: new Set(),
    ...more,
  });
}

describe('the count of a soak', () => {
  it('finds nothing wrong with a whole call and its row', () => {
    const result = count(whole(plain), [rowOf(plain)]);
    expect(result).toMatchObject({ lost: [], duplicates: [], alteredBytes: [], wrongAtClient: [], wrongRows: [] });
    expect(result.costs).toEqual(result.ledgerCosts);
  });

  it('tells a call without a row as lost, one with two as twice, and other bytes as altered', () => {
    expect(count(whole(plain), []).lost).toHaveLength(1);
    expect(count(whole(plain), [rowOf(plain), rowOf(plain)]).duplicates).toHaveLength(1);
    expect(count(whole(plain, { isRight: false }), [rowOf(plain)]).alteredBytes).toHaveLength(1);
  });

  it('tells a cut that nothing explains, and accepts it while a process was killed', () => {
    const cut = whole(plain, { ending: 'cut', status: null, partOfBody: '' });
    const row = rowOf(plain, { outcome: 'interrupted', durationMs: null });
    expect(count(cut, [row])).toMatchObject({ wrongAtClient: [expect.any(String)], wrongRows: [expect.any(String)] });
    const disturbances = [{ fromMs: 1_050, toMs: 1_060, kind: 'kill' as const }];
    expect(count(cut, [row], { disturbances })).toMatchObject({ wrongAtClient: [], wrongRows: [], lost: [] });
  });

  it('tells a wrong cost, and a duration that a step of the clock has made', () => {
    const result = count(whole(plain), [rowOf(plain, { totalCost: 1n })]);
    expect(result.wrongRows).toHaveLength(1);
    expect(result.costs).not.toEqual(result.ledgerCosts);
    expect(count(whole(plain), [rowOf(plain, { durationMs: -1_910 })]).wrongRows).toHaveLength(1);
    expect(count(whole(plain), [rowOf(plain, { durationMs: 30_090 })]).wrongRows).toHaveLength(1);
  });

  it('asks of a cut stream for exactly the usage that it had reported', () => {
    const plan = planOf(cutAfterStart);
    const { inputTokens, cacheReadTokens } = plan.expected;
    const written = plan.answer(true)[0] ?? '';
    const call = whole(cutAfterStart, { ending: 'cut', partOfBody: written });
    const notes = { provider: { ledger: new Map([[call.id, 1]]), written: new Map([[call.id, written]]) } };
    const knownCost = BigInt(inputTokens) * 1_000_000n + BigInt(cacheReadTokens) * 100_000n + 5_000_000n;
    const change = { outcome: 'upstream_truncated', totalCost: null, outputTokens: 1, knownCost };
    expect(count(call, [rowOf(cutAfterStart, change)], notes).wrongRows).toEqual([]);
    const silent = { ...change, inputTokens: null, cacheReadTokens: null, outputTokens: null, knownCost: null };
    expect(count(call, [rowOf(cutAfterStart, silent)], notes).wrongRows).toHaveLength(1);
    const total = { ...change, totalCost: plan.expected.totalCost };
    expect(count(call, [rowOf(cutAfterStart, total)], notes).wrongRows).toHaveLength(1);
  });
});
