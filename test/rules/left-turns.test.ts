import { expect, test } from 'vitest';
import type { ClientCall } from '../../bench/kill/load.ts';
import type { CountedRow } from '../../bench/kill/tally.ts';
import { readRowSaid } from '../../bench/soak/usage-said.ts';
import { joinLeftTurns } from '../../bench/upgrade/join-left-turns.ts';
import { planUpgradeCall } from '../../bench/upgrade/plan-upgrade-call.ts';

const KILL = { kind: 'kill', fromMs: 10_000, toMs: 12_000 } as const;
const planOf = (n: number) => planUpgradeCall(n, 1);

function findCall(isWebsocket: boolean): number {
  for (let n = 1; ; n += 1) {
    const { session } = planOf(n);
    if (isWebsocket ? session !== undefined && session.turns.length > 1 : session === undefined) return n;
  }
}

function callAt(n: number, startedMs: number): ClientCall {
  const seen = { ending: 'cut', status: 101, gatewayError: null, isRight: true, partOfBody: '' } as const;
  return { n, id: planOf(n).id, ...seen, wasReused: false, startedMs, durationMs: 1_000 };
}

const CONNECTION: CountedRow = {
  callId: '',
  outcome: 'interrupted',
  closedBefore: null,
  status: 101,
  provider: 'openai',
  inputTokens: null,
  cacheReadTokens: null,
  outputTokens: null,
  totalCost: null,
  knownCost: null,
  traceId: null,
  durationMs: null,
  endsBeforeItBegins: null,
};

/** The connection and so many of its turns. */
function rowsOf(n: number, turns: number): CountedRow[] {
  const { id, session } = planOf(n);
  const told = (session?.turns ?? []).slice(0, turns);
  return [
    { ...CONNECTION, callId: id },
    ...told.map(({ cost, inputTokens, cacheReadTokens, outputTokens }) => ({
      ...CONNECTION,
      callId: id,
      outcome: 'ok',
      ...{ inputTokens, cacheReadTokens, outputTokens },
      totalCost: cost,
      knownCost: cost,
    })),
  ];
}

function join(n: number, startedMs: number, rows: readonly CountedRow[]): readonly CountedRow[] {
  return joinLeftTurns({ rows, calls: [callAt(n, startedMs)], planOf, kills: [KILL] });
}

test.each([
  ['was cut by the kill', 9_500],
  ['had ended shortly before', 8_000],
])(
  'turns that the release before stored apart are one websocket with their connection, when it %s',
  (_how, startedMs) => {
    const n = findCall(true);
    const joined = join(n, startedMs, rowsOf(n, 2));
    expect(joined).toMatchObject([{ callId: planOf(n).id, outcome: 'interrupted', totalCost: null }]);
    expect(joined.map((row) => readRowSaid(planOf(n), row))).toEqual([2]);
  },
);

test('a whole one has the total of its turns, which that release does not give it', () => {
  const n = findCall(true);
  const turns = planOf(n).session?.turns ?? [];
  const rows = rowsOf(n, turns.length).map((row) => ({ ...row, outcome: 'ok' }));
  const total = turns.reduce((sum, { cost }) => sum + cost, 0n);
  expect(join(n, 8_000, rows)).toMatchObject([{ outcome: 'ok', totalCost: total, knownCost: total }]);
});

test('what it cannot have made stays in view: a turn that is there twice, more rows than turns', () => {
  const n = findCall(true);
  const [connection = CONNECTION, turn = CONNECTION] = rowsOf(n, 1);
  expect(join(n, 9_500, [connection, turn, turn]).map((row) => readRowSaid(planOf(n), row))).toEqual([null]);
  const tooMany = Array.from({ length: 2 + (planOf(n).session?.turns.length ?? 0) }, () => connection);
  expect(join(n, 9_500, tooMany)).toHaveLength(tooMany.length);
});

test('other calls are not joined: long before the kill, after it, or no websocket', () => {
  const n = findCall(true);
  for (const startedMs of [1_000, 12_500]) expect(join(n, startedMs, rowsOf(n, 2))).toHaveLength(3);
  const plain = findCall(false);
  const row = { ...CONNECTION, callId: planOf(plain).id };
  expect(join(plain, 9_500, [row, row])).toHaveLength(2);
});
