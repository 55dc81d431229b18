/** What a soak counts as a fault: calls by hand, each with one thing wrong. The soak itself: test/gateway/soak.test.ts. */
import { describe, expect, it } from 'vitest';
import { Receiver } from 'ws';
import type { ClientCall } from '../../bench/kill/load.ts';
import type { CountedRow } from '../../bench/kill/tally.ts';
import { countSoak, type SoakNotes } from '../../bench/soak/count-soak.ts';
import { planSoakCall } from '../../bench/soak/plan-soak-call.ts';
import { listSaid } from '../../bench/soak/usage-said.ts';
import { asRecord } from '../gateway/start-gateway.ts';

const SEED = 1;
const planOf = (n: number) => planSoakCall(n, SEED);

function findNumber(test: (n: number) => boolean): number {
  const found = Array.from({ length: 500 }, (_, n) => n).find(test);
  if (found === undefined) throw new Error('no such call among the first 500');
  return found;
}

const plain = findNumber((n) => {
  const { trouble, abort, session } = planOf(n);
  return trouble === undefined && abort === undefined && session === undefined;
});
const cutAfterStart = findNumber((n) => {
  const { kind, trouble } = planOf(n);
  return kind === 'anthropic-stream' && trouble?.kind === 'cut' && trouble.pieces > 0;
});
const talk = findNumber((n) => {
  const { trouble, abort, session } = planOf(n);
  const isNormal = session?.goodbye.code === 1000 && session.turns.length > 2;
  return isNormal && trouble === undefined && abort === undefined;
});

function whole(n: number, change: Partial<ClientCall> = {}): ClientCall {
  return {
    n,
    id: planOf(n).id,
    ending: 'complete',
    status: 200,
    gatewayError: null,
    isRight: true,
    partOfBody: null,
    wasReused: false,
    startedMs: 1_000,
    durationMs: 100,
    ...change,
  };
}

function rowOf(n: number, change: Partial<CountedRow> = {}): CountedRow {
  const { id, expected } = planOf(n);
  const { provider, traceId, inputTokens, cacheReadTokens, outputTokens, totalCost } = expected;
  return {
    callId: id,
    outcome: 'ok',
    closedBefore: null,
    status: 200,
    provider,
    traceId,
    inputTokens,
    cacheReadTokens,
    outputTokens,
    totalCost,
    knownCost: totalCost,
    durationMs: 90,
    endsBeforeItBegins: false,
    ...change,
  };
}

function count(call: ClientCall, rows: readonly CountedRow[], more: Partial<SoakNotes> = {}) {
  const { id, n } = call;
  return countSoak({
    calls: [call],
    provider: { ledger: new Map([[id, 1]]), written: new Map([[id, planOf(n).answer(true).join('')]]) },
    database: { rows, rowCount: rows.length, openCalls: 0, differences: [] },
    disturbances: [],
    planOf,
    misread: new Set(),
    ...more,
  });
}

/** The session `talk` with what its provider has written until it has told the usage of so many turns. */
function talkUntil(turns: number) {
  const { id, session } = planOf(talk);
  if (session === undefined) throw new Error('no session');
  const bytes = session.turns[turns - 1]?.toldAtBytes ?? 0;
  const written = session.providerBytes.toString('latin1', 0, bytes);
  const provider = { ledger: new Map([[id, 1]]), written: new Map([[id, written]]) };
  return { bytes, written, notes: { provider } };
}

function rowOfTurns(turns: number, change: Partial<CountedRow>): CountedRow {
  const said = listSaid(planOf(talk))[turns];
  if (said === undefined) throw new Error('not so many turns');
  const { inputTokens, cacheReadTokens, outputTokens, cost } = said;
  const counts = { inputTokens, cacheReadTokens, outputTokens, knownCost: cost };
  return rowOf(talk, { ...counts, status: 101, totalCost: null, ...change });
}

/** The messages of a side of a session, as a library reads them. */
async function readMessages(bytes: Buffer): Promise<unknown[]> {
  const receiver = new Receiver({ isServer: false, maxPayload: 1024 * 1024 });
  const messages: unknown[] = [];
  receiver.on('message', (data) => messages.push(JSON.parse(data.toString())));
  await new Promise<void>((resolve) => receiver.write(bytes, () => resolve()));
  return messages;
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

  it('accepts a forgotten call only of a release that forgets, if it was given to it on a kept connection', () => {
    const cut = whole(plain, { ending: 'cut', partOfBody: '', wasReused: true });
    const rolling = { fromMs: 1_050, toMs: 1_200, kind: 'rolling' as const };
    const exit = { ...rolling, kind: 'forgetful exit' as const, callIds: new Set([cut.id]) };
    const forgotten = { lost: [], wrongAtClient: [], forgotten: 1 };
    expect(count(cut, [], { disturbances: [rolling, exit] })).toMatchObject(forgotten);
    expect(count(whole(plain, { wasReused: true }), [], { disturbances: [exit] })).toMatchObject(forgotten);
    const interrupted = rowOf(plain, { outcome: 'interrupted', durationMs: null });
    expect(count(cut, [interrupted], { disturbances: [exit] })).toMatchObject({ wrongAtClient: [], wrongRows: [] });

    const fault = { lost: [expect.any(String)], wrongAtClient: [expect.any(String)], forgotten: 0 };
    expect(count(cut, [], { disturbances: [rolling] })).toMatchObject(fault);
    const ofAnother = { ...exit, callIds: new Set(['call-of-another-node']) };
    expect(count(cut, [], { disturbances: [rolling, ofAnother] })).toMatchObject(fault);
    expect(count(cut, [], { disturbances: [{ ...exit, fromMs: 1_101 }] })).toMatchObject(fault);
    expect(count({ ...cut, wasReused: false }, [], { disturbances: [exit] })).toMatchObject(fault);
  });

  it('tells a cut that nothing explains, and accepts it while a process was killed', () => {
    const cut = whole(plain, { ending: 'cut', status: null, partOfBody: '' });
    const row = rowOf(plain, { outcome: 'interrupted', durationMs: null });
    expect(count(cut, [row])).toMatchObject({ wrongAtClient: [expect.any(String)], wrongRows: [expect.any(String)] });
    const disturbances = [{ fromMs: 1_050, toMs: 1_060, kind: 'kill' as const }];
    expect(count(cut, [row], { disturbances })).toMatchObject({ wrongAtClient: [], wrongRows: [], lost: [] });
  });

  it('asks for the usage that a client has seen, but not of a call that died with its proxy on a full disk', () => {
    const written = planOf(cutAfterStart).answer(true)[0] ?? '';
    const call = whole(cutAfterStart, { ending: 'cut', partOfBody: written });
    const counts = { inputTokens: null, cacheReadTokens: null, outputTokens: null, totalCost: null, knownCost: null };
    const rows = [rowOf(cutAfterStart, { ...counts, outcome: 'interrupted', durationMs: null })];
    const during = (...kinds: ('kill' | 'full disk')[]) => kinds.map((kind) => ({ fromMs: 1_050, toMs: 1_060, kind }));
    expect(count(call, rows, { disturbances: during('kill') }).wrongRows).toHaveLength(1);
    expect(count(call, rows, { disturbances: during('full disk', 'kill') }).wrongRows).toEqual([]);
    expect(count(call, rows, { disturbances: during('full disk') }).wrongRows).toHaveLength(1);
    expect(count(call, [], { disturbances: during('full disk', 'kill') }).lost).toHaveLength(1);
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
    const knownCost = BigInt(inputTokens) * 1_000_000n + BigInt(cacheReadTokens) * 100_000n;
    const change = { outcome: 'upstream_truncated', totalCost: null, outputTokens: null, knownCost };
    expect(count(call, [rowOf(cutAfterStart, change)], notes).wrongRows).toEqual([]);
    const silent = { ...change, inputTokens: null, cacheReadTokens: null, outputTokens: null, knownCost: null };
    expect(count(call, [rowOf(cutAfterStart, silent)], notes).wrongRows).toHaveLength(1);
    // What stands in the place of the output until it is known.
    const opening = { ...change, outputTokens: 1, knownCost: knownCost + 5_000_000n };
    expect(count(call, [rowOf(cutAfterStart, opening)], notes).wrongRows).toHaveLength(1);
    const total = { ...change, totalCost: plan.expected.totalCost };
    expect(count(call, [rowOf(cutAfterStart, total)], notes).wrongRows).toHaveLength(1);
  });

  it('plans sessions of frames that a library reads, with the usage of each turn', async () => {
    const plain = findNumber((n) => n % 3 === 0 && planOf(n).session?.extensions === null);
    const { session, expected } = planOf(plain);
    const messages = (await readMessages(Buffer.from(session?.providerBytes ?? []))).map(asRecord);
    expect(messages[0]).toMatchObject({ type: 'session.created', session: { model: 'gpt-realtime' } });
    const done = messages
      .filter(({ type }) => type === 'response.done')
      .map(({ response }) => asRecord(response)['usage']);
    expect(done).toHaveLength(session?.turns.length ?? 0);
    const uncached = done.map(asRecord).reduce((sum, { input_token_details: details }) => {
      const { text_tokens: text, cached_tokens_details: cached } = asRecord(details);
      return sum + Number(text) - Number(asRecord(cached)['text_tokens']);
    }, 0);
    expect(uncached).toBe(expected.inputTokens);
  });

  it('finds nothing wrong with a whole session and its row, and tells altered bytes of both sides', () => {
    const { id, session } = planOf(talk);
    const all = session?.providerBytes.toString('latin1') ?? '';
    const provider = { ledger: new Map([[id, 1]]), written: new Map([[id, all]]) };
    const call = whole(talk, { status: 101 });
    const rows = [rowOf(talk, { status: 101 })];
    const result = count(call, rows, { provider });
    expect(result).toMatchObject({ lost: [], alteredBytes: [], wrongAtClient: [], wrongRows: [] });
    expect(result).toMatchObject({ sessions: 1, sessionOutcomes: { ok: 1 } });
    expect(result.costs).toEqual(result.ledgerCosts);
    expect(count(call, [], { provider }).lost).toHaveLength(1);
    expect(count(call, rows, { provider, misread: new Set([id]) }).alteredBytes).toHaveLength(1);
    const less = rowOfTurns(1, { totalCost: listSaid(planOf(talk))[1]?.cost ?? null });
    expect(count(call, [less], { provider }).wrongRows).toHaveLength(1);
  });

  it('asks of a session that died with its proxy for each turn that its client has seen, of the release before for less', () => {
    const { bytes, written, notes } = talkUntil(2);
    const call = whole(talk, { status: 101, ending: 'cut', partOfBody: written, durationMs: 4_500, wasReused: true });
    const rowWith = (turns: number) => [rowOfTurns(turns, { outcome: 'interrupted', durationMs: null })];
    const wrongRows = (kind: 'kill' | 'forgetful exit', turns: number, atMs: number) => {
      const disturbances = [{ fromMs: 5_000, toMs: 6_000, kind }];
      return count({ ...call, arrivals: [{ bytes, atMs }] }, rowWith(turns), { ...notes, disturbances }).wrongRows;
    };
    expect(wrongRows('kill', 2, 5_000)).toEqual([]);
    expect(wrongRows('kill', 1, 5_000)).toHaveLength(1);
    expect(wrongRows('kill', 3, 5_000)).toHaveLength(1);
    expect(wrongRows('forgetful exit', 1, 5_000)).toEqual([]);
    expect(wrongRows('forgetful exit', 1, 2_000)).toHaveLength(1);
  });

  it('asks of a session that its provider cut for exactly the turns that were over', () => {
    const cut = findNumber((n) => {
      const { session, trouble } = planOf(n);
      return session !== undefined && trouble?.kind === 'cut';
    });
    const { id, trouble, session } = planOf(cut);
    const pieces = trouble?.kind === 'cut' ? trouble.pieces : 0;
    const written = Buffer.concat((session?.fromProvider ?? []).slice(0, pieces).map(({ bytes }) => bytes));
    const provider = { ledger: new Map([[id, 1]]), written: new Map([[id, written.toString('latin1')]]) };
    const call = whole(cut, { status: 101, ending: 'cut', partOfBody: written.toString('latin1') });
    const over = (session?.turns ?? []).filter(({ toldAtBytes }) => toldAtBytes <= written.length).length;
    const wrongRowsOf = (turns: number) => {
      const {
        cost,
        inputTokens = null,
        cacheReadTokens = null,
        outputTokens = null,
      } = listSaid(planOf(cut))[turns] ?? {};
      const counts = { inputTokens, cacheReadTokens, outputTokens, knownCost: cost ?? null, totalCost: null };
      return count(call, [rowOf(cut, { ...counts, status: 101, outcome: 'upstream_truncated' })], { provider })
        .wrongRows;
    };
    expect(wrongRowsOf(over)).toEqual([]);
    expect(wrongRowsOf(over + 1)).toHaveLength(1);
  });
});
