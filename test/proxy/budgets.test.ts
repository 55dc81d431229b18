import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Budget } from '../../src/budgets/budget.ts';
import { BudgetLedger, type Claim } from '../../src/budgets/ledger.ts';
import { openLedgerDatabase } from '../../src/budgets/ledger-file.ts';
import { LedgerUpkeep } from '../../src/budgets/ledger-upkeep.ts';
import { ProcessShares } from '../../src/budgets/process-shares.ts';
import { createGatewayKey } from '../../src/keys/gateway-key.ts';
import { BudgetGate } from '../../src/proxy/budget/budget-gate.ts';
import { HELD_BODIES_BYTES } from '../../src/proxy/gateway.ts';
import { IdleSweep } from '../../src/proxy/idle-sweep.ts';
import { createProxyServer } from '../../src/proxy/proxy-server.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { ENDINGS, startBillingProvider } from '../support/budgets/billing-provider.ts';
import { costInBooks, runTrial } from '../support/budgets/budget-trial.ts';
import { FLAT_COSTS, FLAT_RATES } from '../support/budgets/flat-costs.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { createSeededRandom } from './seeded-random.ts';
import { startProxy } from './start-proxy.ts';
import { startWebsocketProvider } from './websocket-provider.ts';

const dir = mkdtempSync(join(tmpdir(), 'tollgate-budgets-'));
const file = join(dir, 'budgets.db');
const log = pino({ level: 'silent' });
const upkeep = new LedgerUpkeep(openLedgerDatabase(file, 'process'));

const RUNS: Budget = {
  id: 1,
  accountId: 1,
  name: 'Agents',
  scope: 'run',
  metadataKey: null,
  value: null,
  amount: parseUsd('0.02'),
  period: 'once',
  timeZone: 'UTC',
  isHard: true,
  reserves: 'greatest',
  whenUnknown: 'refuse',
  heldWhenUnknown: null,
  contact: 'Ada',
  createdAtMs: 0,
};
upkeep.publish([RUNS]);

const provider = await startBillingProvider();

/** The processes that live, as control knows them. */
const LIVING = ['p1', 'p2', 'p3', 'ws'];

/** What a process of the gateway has of budgets. */
function openBudgets(process: string) {
  const gate = new BudgetGate(new BudgetLedger(openLedgerDatabase(file, 'process')), process, Date.now, log);
  return { gate, costs: FLAT_COSTS, loadPrices: () => null, close: () => gate.close() };
}

test('nobody but the gateway’s user may read the ledger: it has what people are known by', () => {
  expect(['', '-wal', '-shm'].map((end) => statSync(file + end).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
});

const key = createGatewayKey();
const parts = [openBudgets('p1'), openBudgets('p2')] as const;
const [first, second] = await Promise.all(
  parts.map((budgets) =>
    startProxy(provider.origin, {}, {}, undefined, undefined, {}, null, {
      budgets,
      key,
      keyEntry: { allowRunBudget: true },
    }),
  ),
);
if (first === undefined || second === undefined) throw new Error('no proxies');

afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
  for (const budgets of parts) budgets.close();
  upkeep.close();
  await provider.close();
  rmSync(dir, { recursive: true, force: true });
});

async function untilQuiet(run: string, budgetId = RUNS.id) {
  const deadlineMs = performance.now() + 10_000;
  for (;;) {
    await upkeep.ask(LIVING);
    const [use] = upkeep.list({ accountId: 1, budgetId }, { value: run }, 1, LIVING);
    if (use === undefined || use.reserved === 0n || performance.now() > deadlineMs) return use;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Each test has budgets of its own. */
let freeId = 10;

function nextId(): number {
  freeId += 1;
  return freeId;
}

/** Until this process has the budgets that were published. */
async function untilBudgets(count: number, id?: number): Promise<void> {
  const has = () => parts[0].gate.of(1).length === count && (id === undefined || parts[0].gate.find(id) !== null);
  while (!has()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const call = (headers: Record<string, string> = {}, body: object = {}) =>
  fetch(`${first.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-key': first.key, ...headers },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hello' }],
      metadata: { run: 'none', ending: 'json', output: '10', delay: '0' },
      ...body,
    }),
  });

test('64 parallel calls of a run spend no more than its budget, over one process and over two, however they end', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const run = `run-${seed}`;
    const bases = seed % 2 === 0 ? [first.base, second.base] : [first.base];
    const { burst, rest } = await runTrial(
      { bases, key: first.key },
      { run, calls: 64, random: createSeededRandom(seed), maxTokens: 600, endings: ENDINGS },
    );
    expect([...burst.odd, ...rest.odd]).toEqual([]);
    expect(burst.refused).toBeGreaterThan(0);
    const use = await untilQuiet(run);
    const cost = costInBooks(provider, run, FLAT_RATES);
    expect(use?.reserved).toBe(0n);
    expect(cost).toBeLessThanOrEqual(RUNS.amount);
    expect(use?.spent).toBeGreaterThanOrEqual(cost);
    expect(use?.spent).toBeLessThanOrEqual(RUNS.amount);
    expect(use?.spent).toBeGreaterThanOrEqual((RUNS.amount * 9n) / 10n);
  }
});

const Refusal = z.object({ error: z.object({ type: z.string(), code: z.string(), message: z.string() }) });

test('a refusal says which budget, what is spent, when it resets and whom to ask, and that trying again does not help', async () => {
  upkeep.publish([
    RUNS,
    { ...RUNS, id: 2, name: 'Keys by day', scope: 'key', value: '7', amount: parseUsd('0.001'), period: 'day' },
  ]);
  await untilBudgets(2);
  expect((await call()).status).toBe(200);
  await untilQuiet('7', 2);
  const answer = await call({}, { max_tokens: 10_000 });
  expect(answer.status).toBe(429);
  expect(answer.headers.get('x-should-retry')).toBe('false');
  expect(answer.headers.get('retry-after')).toBeNull();
  expect(answer.headers.get('x-gateway-error')).toBe('budget_exceeded');
  const { error } = Refusal.parse(await answer.json());
  expect(error).toMatchObject({ type: 'rate_limit_error', code: 'budget_exceeded' });
  expect(error.message).toMatch(
    /budget "Keys by day" of this gateway key: \$0\.001 each day; \$0\.000035 spent, \$0 reserved for open calls, up to \$0\.030\d+ for this call; it resets at \d{4}-\d\d-\d\dT00:00:00\.000Z; ask Ada for more/,
  );
  const { begin, end } = await first.waitForCall(answer.headers.get('x-gateway-request-id') ?? '');
  expect(end).toMatchObject({ outcome: 'rejected', errorType: 'budget_exceeded', status: 429 });
  expect(end.errorMessage).toContain('Keys by day');
  expect(begin.budgets).toBeUndefined();

  const stored = await first.waitForCall((await call()).headers.get('x-gateway-request-id') ?? '');
  expect(stored.begin.budgets).toMatchObject([{ budgetId: 2, value: '7', amount: expect.stringMatching(/^0\.0004/) }]);
  expect(stored.end.budgetCost).toBe('0.000035');
});

test('a call that may cost anything is refused, let through or holds a sum, as the budget has it', async () => {
  const unknown = { max_tokens: undefined };
  const budget: Budget = { ...RUNS, id: 3, name: 'Odd', scope: 'account', amount: parseUsd('1') };
  for (const [change, status, spent] of [
    [{ whenUnknown: 'refuse' }, 429, 0n],
    [{ whenUnknown: 'hold', heldWhenUnknown: parseUsd('0.4') }, 200, parseUsd('0.4')],
    [{ whenUnknown: 'allow' }, 200, 0n],
    [{ whenUnknown: 'refuse', isHard: false }, 200, 0n],
  ] as const) {
    upkeep.publish([{ ...budget, ...change, id: nextId() }]);
    await untilBudgets(1, freeId);
    const answer = await call({}, { ...unknown, metadata: { run: 'n', ending: 'no-usage', output: '10', delay: '0' } });
    expect([change, answer.status]).toEqual([change, status]);
    await answer.text();
    const use = await untilQuiet('', freeId);
    expect(use?.spent ?? 0n).toBe(spent);
    const { end } = await first.waitForCall(answer.headers.get('x-gateway-request-id') ?? '');
    expect(end.flags.includes('budget_unsure')).toBe(status === 200 && spent === 0n);
  }
});

test('a large call that a hard budget must read while there is no room for its body may try again', async () => {
  const { heldBodies } = first.gateway;
  const large = { messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] };
  const budget: Budget = { ...RUNS, name: 'Large', scope: 'account', amount: parseUsd('100') };
  const send = async (leftBytes: number, body: object) => {
    expect(heldBodies.take(HELD_BODIES_BYTES - leftBytes)).toBe(true);
    const answer = await call({}, { ...large, ...body });
    await answer.text();
    heldBodies.give(HELD_BODIES_BYTES - leftBytes);
    return answer;
  };
  for (const change of [
    { whenUnknown: 'refuse' },
    { whenUnknown: 'allow' },
    { whenUnknown: 'hold', heldWhenUnknown: parseUsd('0.01') },
  ] as const) {
    upkeep.publish([{ ...budget, ...change, id: nextId() }]);
    await untilBudgets(1, freeId);
    // None for the body; then some for the body, and none for the copy that asks for usage.
    for (const answer of [await send(0, {}), await send(4_000_000, { stream: true })]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('x-gateway-error')).toBe('bodies_busy');
      expect(answer.headers.get('x-should-retry')).not.toBe('false');
    }
    expect(await untilQuiet('', freeId)).toBeUndefined();
  }
  // It needs no copy where it says itself whether it wants usage.
  expect((await send(4_000_000, { stream: true, stream_options: { include_usage: true } })).status).toBe(200);
  expect((await call({}, large)).status).toBe(200);
  upkeep.publish([{ ...budget, isHard: false, id: nextId() }]);
  await untilBudgets(1, freeId);
  expect((await send(0, {})).status).toBe(200);
  expect(heldBodies.take(HELD_BODIES_BYTES)).toBe(true);
  heldBodies.give(HELD_BODIES_BYTES);
});

test('a large call of a run for which there is no room may try again only where the run has a budget', async () => {
  const { heldBodies } = first.gateway;
  upkeep.publish([]);
  await untilBudgets(0);
  const run = { 'x-gateway-trace-id': 'no-room' };
  const large = { messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] };
  const send = async (more: Record<string, string> = {}) => {
    expect(heldBodies.take(HELD_BODIES_BYTES)).toBe(true);
    const answer = await call({ ...run, ...more }, large);
    await answer.text();
    heldBodies.give(HELD_BODIES_BYTES);
    return answer.status;
  };
  expect(await send()).toBe(200);
  expect(await send({ 'x-gateway-budget-usd': '90' })).toBe(503);
  expect((await call({ ...run, 'x-gateway-budget-usd': '90' })).status).toBe(200);
  expect(await send()).toBe(503);
});

test('a soft budget marks what goes beyond it, and calls of other owners of value do not count', async () => {
  upkeep.publish([
    {
      ...RUNS,
      id: nextId(),
      scope: 'metadata',
      metadataKey: 'User-Id',
      isHard: false,
      amount: parseUsd('0.0005'),
    },
  ]);
  await untilBudgets(1, freeId);
  const flagsOf = async (user: string) => {
    const answer = await call({ 'x-gateway-user-id': user });
    await answer.text();
    await untilQuiet(user, freeId);
    return (await first.waitForCall(answer.headers.get('x-gateway-request-id') ?? '')).end.flags;
  };
  expect(await flagsOf('ada')).not.toContain('over_budget');
  for (let calls = 0; calls < 5; calls += 1) await flagsOf('ada');
  expect(await flagsOf('ada')).toContain('over_budget');
  expect(await flagsOf('bob')).not.toContain('over_budget');
});

test('a long value of metadata counts under a name that has a place in the database', async () => {
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'metadata', metadataKey: 'User-Id' }]);
  await untilBudgets(1, freeId);
  const answer = await call({ 'x-gateway-user-id': `ann-${'x'.repeat(3_996)}` });
  await answer.text();
  const { begin } = await first.waitForCall(answer.headers.get('x-gateway-request-id') ?? '');
  const value =
    'ann-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (SHA-256 aa1ca15d8a4472285ad42c7216a0164928560848c4b743937f7fa5a751cf9b11)';
  expect(begin.budgets?.map((one) => one.value)).toEqual([value]);
  expect(await untilQuiet(value, freeId)).toMatchObject({ reserved: 0n });
});

test('what other nodes have spent is known as long as what this one has', () => {
  const scope = { accountId: 4, budgetId: 77, value: 'long ago', periodStartMs: 0 };
  const nowMs = Date.UTC(2026, 10, 1);
  upkeep.noteElsewhere([{ ...scope, held: 5n }], nowMs);
  upkeep.tidy(nowMs + 80 * 86_400_000);
  expect(upkeep.list(scope, {}, 5, [])).toHaveLength(1);
  upkeep.tidy(nowMs + 91 * 86_400_000);
  expect(upkeep.list(scope, {}, 5, [])).toEqual([]);
});

test('the first call of a run sets its budget, the least amount holds, and it counts for calls that do not repeat it', async () => {
  upkeep.publish([]);
  await untilBudgets(0);
  const run = { 'x-gateway-trace-id': 'own-budget' };
  expect((await call({ ...run, 'x-gateway-budget-usd': '0.002' })).status).toBe(200);
  await untilQuiet('own-budget', 0);
  const beyond = await call(run, { max_tokens: 10_000 });
  expect(beyond.status).toBe(429);
  expect(Refusal.parse(await beyond.json()).error.message).toContain(
    'budget of this run: $0.002 in all, set by X-Gateway-Budget-Usd',
  );
  expect((await call({ ...run, 'x-gateway-budget-usd': '5' }, { max_tokens: 10_000 })).status).toBe(429);
  expect((await call({ ...run, 'x-gateway-budget-usd': '0.0001' })).status).toBe(429);
  expect((await call(run)).status).toBe(200);
  for (const [headers, code] of [
    [{ 'x-gateway-budget-usd': '1' }, 'run_budget_without_run'],
    [{ ...run, 'x-gateway-budget-usd': '-1' }, 'run_budget_malformed'],
    [{ ...run, 'x-gateway-budget-usd': '1e3' }, 'run_budget_malformed'],
  ] as const) {
    expect((await call(headers)).headers.get('x-gateway-error')).toBe(code);
  }
});

test('where the provider was never reached nothing is spent', async () => {
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account' }]);
  const gone = await startProxy('http://127.0.0.1:1', {}, {}, undefined, undefined, {}, null, {
    budgets: openBudgets('p3'),
    key,
  });
  const answer = await fetch(`${gone.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-key': key },
    body: '{"model":"gpt-4o-mini","max_tokens":5,"messages":[]}',
  });
  expect(answer.status).toBe(502);
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
  await gone.close();
});

test.each(['the client leaves', 'the process stops', 'the key ends'])(
  'where %s before there is a connection to the provider nothing is spent',
  async (how) => {
    const hold = { whenUnknown: 'hold', heldWhenUnknown: parseUsd('0.01') } as const;
    upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account', ...hold }]);
    const budgets = openBudgets('p3');
    const proxy = await startProxy('http://127.0.0.1:1', {}, {}, undefined, undefined, {}, null, { budgets, key });
    const sending = Promise.withResolvers<void>();
    const connecting = () => {
      sending.resolve();
      return { abort() {}, pause() {}, resume() {}, expectEnd() {} };
    };
    const upstream = { send: connecting, upgrade: connecting, close: () => Promise.resolve() };
    const gateway = { ...proxy.gateway, upstream, settings: { ...proxy.gateway.settings, onRevoke: 'cut' as const } };
    const { server } = createProxyServer(gateway);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect(Object(server.address()).port, '127.0.0.1');
    socket.on('error', () => {});
    const lines = ['POST /v1/chat/completions HTTP/1.1', 'Host: g', `X-Gateway-Key: ${key}`, 'Content-Length: 23'];
    socket.write([...lines, '', '{"model":"gpt-4o-mini"}'].join('\r\n'));
    await sending.promise;
    await new Promise((resolve) => setImmediate(resolve));
    if (how === 'the client leaves') socket.destroy();
    for (const open of gateway.openCalls) {
      if (how === 'the process stops') open.shutDown();
      if (how === 'the key ends') open.endKey('key_revoked');
    }
    expect((await proxy.lastCall()).end).toMatchObject({ budgetCost: '0' });
    expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await proxy.close();
    budgets.close();
  },
);

test('a realtime session whose provider cannot be reached has spent nothing', async () => {
  const hold = { whenUnknown: 'hold', heldWhenUnknown: parseUsd('5') } as const;
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account', amount: parseUsd('10'), ...hold }]);
  const budgets = openBudgets('p3');
  const proxy = await startProxy('http://127.0.0.1:1', {}, {}, undefined, undefined, {}, null, { budgets, key });
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/realtime?model=gpt-realtime`, {
    headers: { 'X-Gateway-Key': key, Authorization: 'Bearer sk-test' },
  });
  await new Promise((resolve) => client.once('error', resolve));
  expect((await proxy.lastCall()).end).toMatchObject({ errorType: 'upstream_unreachable', budgetCost: '0' });
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
  await proxy.close();
  budgets.close();
});

test.each(['leaves', 'falls silent'])('where a client %s before its body is whole nothing is spent', async (how) => {
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account', whenUnknown: 'hold', heldWhenUnknown: parseUsd('0.01') }]);
  const scripted = await startScriptedProvider();
  const budgets = openBudgets('p3');
  const proxy = await startProxy(scripted.origin, {}, {}, undefined, undefined, {}, null, { budgets, key });
  const idleBodies = new IdleSweep(how === 'leaves' ? 60_000 : 100, 10);
  const { server } = createProxyServer({ ...proxy.gateway, idleBodies });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect(Object(server.address()).port, '127.0.0.1');
  const lines = ['POST /v1/chat/completions HTTP/1.1', 'Host: g', `X-Gateway-Key: ${key}`, 'Content-Length: 40000000'];
  socket.write([...lines, '', `{"model":"gpt-4o-mini",`].join('\r\n'));
  while (scripted.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  if (how === 'leaves') socket.destroy();
  const { end } = await proxy.lastCall();
  expect(end.outcome).toBe(how === 'leaves' ? 'client_closed' : 'rejected');
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  idleBodies.close();
  await proxy.close();
  budgets.close();
  await scripted.close();
});

function openShares(process: string) {
  const ledger = new BudgetLedger(openLedgerDatabase(file, 'process'));
  let isKilled = false;
  const shares = new ProcessShares(ledger, process, Date.now, (error) => {
    if (!isKilled) throw error;
  });
  let calls = 0;
  return {
    /** Until it is decided, as the gate does it. */
    reserve: async (claims: readonly Claim[]) => {
      calls += 1;
      const callId = `${process} ${calls}`;
      const sinceMs = performance.now();
      for (;;) {
        const answer =
          shares.tryReserve(callId, claims) ??
          shares.reserve([{ callId, claims, waitedMs: performance.now() - sinceMs }])[0];
        if (answer?.kind !== 'short') return { callId, kind: answer?.kind, answer };
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    settle: shares.settle.bind(shares),
    close: () => {
      shares.close();
      ledger.close();
    },
    /** As kill -9 does: nothing is written any more. */
    kill: () => {
      isKilled = true;
      ledger.close();
    },
  };
}

test('what a killed process was granted stays held until its records are stored, which say what it has spent', async () => {
  const scope = { accountId: 2, budgetId: 9, value: 'x', periodStartMs: 0 };
  const claim = { ...scope, limit: 100n, isHard: true, amount: 60n };
  const dead = openShares('dead');
  const living = openShares('living');
  const listed = () => upkeep.list(scope, {}, 5, ['living']);
  const { callId } = await dead.reserve([claim]);
  expect(await living.reserve([claim])).toMatchObject({ answer: { kind: 'refused', spent: 0n, reserved: 60n } });
  dead.settle({ callId, cost: 7n });
  await dead.reserve([claim]);
  dead.kill();
  // It had taken a little more than it held.
  expect(await living.reserve([{ ...claim, amount: 40n }])).toMatchObject({ kind: 'refused' });
  expect(listed()).toMatchObject([{ spent: 7n, reserved: 73n }]);
  upkeep.takeInProcess('dead', [{ ...scope, spent: 7n, refunded: 0n }]);
  upkeep.takeInProcess('dead', [{ ...scope, spent: 7n, refunded: 0n }]);
  expect(listed()).toMatchObject([{ spent: 7n, reserved: 0n }]);
  expect(await living.reserve([{ ...claim, amount: 94n }])).toMatchObject({ kind: 'refused' });
  expect(await living.reserve([{ ...claim, amount: 93n }])).toMatchObject({ kind: 'reserved' });
  living.close();
  upkeep.raiseSpent([{ ...scope, spent: 50n, runLimit: null, usedMs: 1 }]);
  upkeep.raiseSpent([{ ...scope, spent: 10n, runLimit: null, usedMs: 1 }]);
  expect(listed()).toMatchObject([{ spent: 50n, reserved: 93n }]);
});

test('a process that has taken much gives it to one that asks, and one that stands still is not waited for twice', async () => {
  const scope = { accountId: 2, budgetId: 10, value: 'x', periodStartMs: 0 };
  const claim = (amount: bigint) => [{ ...scope, limit: 1_000n, isHard: true, amount }];
  const first = openShares('first');
  const second = openShares('second');
  const { callId } = await first.reserve(claim(1n));
  expect(upkeep.list(scope, {}, 1, [])).toMatchObject([{ spent: 0n, reserved: 500n }]);
  expect(await second.reserve(claim(999n))).toMatchObject({ kind: 'reserved' });
  expect(await first.reserve(claim(1n))).toMatchObject({ answer: { kind: 'refused', reserved: 1_000n } });
  first.settle({ callId, cost: 0n });
  expect(await first.reserve(claim(1n))).toMatchObject({ kind: 'reserved' });
  second.kill();
  const before = performance.now();
  for (let calls = 0; calls < 20; calls += 1) expect(await first.reserve(claim(1n))).toMatchObject({ kind: 'refused' });
  expect(performance.now() - before).toBeLessThan(5_000);
  first.close();
});

test('a process that has taken much and spent nothing gives it back, to one that asks and by itself', async () => {
  const scope = { accountId: 2, budgetId: 11, value: 'x', periodStartMs: 0 };
  const claim = (amount: bigint) => [{ ...scope, limit: 1_000n, isHard: true, amount }];
  const first = openShares('first unspent');
  const second = openShares('second unspent');
  const failed = async () => {
    const { callId } = await first.reserve(claim(1n));
    first.settle({ callId, cost: 0n });
  };
  await failed();
  expect(upkeep.list(scope, {}, 1, [])).toMatchObject([{ spent: 0n, reserved: 500n }]);
  const late = await second.reserve(claim(999n));
  expect(late).toMatchObject({ kind: 'reserved' });
  second.settle({ callId: late.callId, cost: 0n });
  await failed();
  await vi.waitUntil(() => upkeep.list(scope, {}, 1, [])[0]?.reserved === 0n, 10_000);
  first.close();
  second.close();
});

test('in any order of calls, kills and records, two processes spend no more than a budget and leave nothing reserved', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const random = createSeededRandom(seed);
    const scope = { accountId: 3, budgetId: seed, value: 'x', periodStartMs: 0 };
    const limit = 1_000n;
    let spentInAll = 0n;
    let names = 0;
    const start = () => {
      names += 1;
      const name = `s${seed} ${names}`;
      return { name, shares: openShares(name), open: new Map<string, bigint>(), spent: 0n };
    };
    const processes = [start(), start()];
    for (let step = 0; step < 60; step += 1) {
      const at = Math.floor(random() * 2);
      const process = processes[at];
      if (process === undefined) continue;
      const what = random();
      const amount = BigInt(1 + Math.floor(random() * 120));
      if (what < 0.6) {
        const { callId, kind } = await process.shares.reserve([{ ...scope, limit, isHard: true, amount }]);
        if (kind === 'reserved') process.open.set(callId, amount);
        continue;
      }
      const [callId, held] = [...process.open][0] ?? [];
      if (what < 0.95 && callId !== undefined && held !== undefined) {
        const cost = BigInt(Math.floor(random() * (Number(held) + 1)));
        process.open.delete(callId);
        process.shares.settle({ callId, cost });
        process.spent += cost;
        spentInAll += cost;
      } else if (what >= 0.95) {
        // Its open calls count in full, as their begins say.
        for (const amountHeld of process.open.values()) process.spent += amountHeld;
        for (const amountHeld of process.open.values()) spentInAll += amountHeld;
        process.shares.kill();
        upkeep.takeInProcess(process.name, [{ ...scope, spent: process.spent, refunded: 0n }]);
        processes[at] = start();
      }
      const open = processes.flatMap((one) => [...one.open.values()]).reduce((sum, held) => sum + held, 0n);
      expect(spentInAll + open).toBeLessThanOrEqual(limit);
    }
    for (const { shares, open, name } of processes) {
      for (const callId of open.keys()) shares.settle({ callId, cost: 0n });
      shares.close();
      upkeep.takeInProcess(name, []);
    }
    expect(upkeep.list(scope, {}, 1, [])).toMatchObject([{ spent: spentInAll, reserved: 0n }]);
  }
});

test('each turn of a websocket is reserved before it is sent; one that is refused is told and closes the connection', async () => {
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account', amount: parseUsd('0.001'), name: 'Turns' }]);
  await untilBudgets(1, freeId);
  const atProvider: string[] = [];
  const turns = await startWebsocketProvider((session) => {
    session.on('message', (data) => {
      atProvider.push(String(data));
      session.send('{"type":"response.created","response":{"id":"r"}}');
      const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
      session.send(JSON.stringify({ type: 'response.completed', response: { id: 'r', model: 'gpt-4o-mini', usage } }));
    });
  });
  const proxy = await startProxy(turns.origin, {}, {}, undefined, undefined, {}, null, {
    budgets: openBudgets('ws'),
    key,
  });
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/responses`, {
    headers: { 'X-Gateway-Key': key, Authorization: 'Bearer sk-test' },
  });
  const messages: string[] = [];
  client.on('message', (data) => messages.push(String(data)));
  const over = new Promise((resolve) => client.once('close', (code, reason) => resolve([code, reason.toString()])));
  await new Promise((resolve) => client.once('open', resolve));
  // Compression is left out: what is compressed would be read too late.
  expect(client.extensions).toBe('');
  const create = (most: number) =>
    client.send(
      JSON.stringify({ type: 'response.create', model: 'gpt-4o-mini', max_output_tokens: most, input: 'hi' }),
    );
  create(50);
  while (messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 25_000_000n });
  // Any letter may be written as an escape.
  client.send('{"type":"response\\u002ecreate","model":"gpt-4o-mini","max_output_tokens":5000,"input":"hi"}');
  expect(await over).toEqual([1008, 'a budget refuses this turn']);
  expect(Refusal.parse(JSON.parse(messages.at(-1) ?? '')).error.message).toContain(
    'budget "Turns" of the account: $0.001',
  );
  expect(atProvider).toHaveLength(1);
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 25_000_000n, reserved: 0n });
  const connection = await proxy.lastConnection();
  expect(connection.end).toMatchObject({ errorType: 'budget_exceeded' });
  expect(connection.turns).toMatchObject([
    { begin: { budgets: [{ budgetId: freeId }] }, end: { budgetCost: '0.000025' } },
  ]);
  await proxy.close();
  await turns.close();
});

/** A relay to a provider of websockets that only listens, under a budget of $0.001 for all turns. */
async function openTurns(atProvider: string[]) {
  upkeep.publish([{ ...RUNS, id: nextId(), scope: 'account', amount: parseUsd('0.001'), name: 'Turns' }]);
  await untilBudgets(1, freeId);
  const listening = await startWebsocketProvider((session) => {
    session.on('message', (data) => atProvider.push(String(data)));
  });
  const budgets = openBudgets('ws');
  const proxy = await startProxy(listening.origin, {}, {}, undefined, undefined, {}, null, { budgets, key });
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/responses`, {
    headers: { 'X-Gateway-Key': key, Authorization: 'Bearer sk-test' },
  });
  await new Promise((resolve) => client.once('open', resolve));
  const close = async () => {
    await proxy.close();
    await listening.close();
    budgets.close();
  };
  return { gate: budgets.gate, proxy, client, close };
}

const turn = (most: number) =>
  JSON.stringify({ type: 'response.create', model: 'gpt-4o-mini', max_output_tokens: most, input: 'hi' });

test('a turn that is withheld with one that a budget refuses has spent nothing', async () => {
  const atProvider: string[] = [];
  const { proxy, client, close } = await openTurns(atProvider);
  const over = new Promise((resolve) => client.once('close', (code) => resolve(code)));
  const socket: Socket = Reflect.get(client, '_socket');
  // Both in one chunk.
  socket.cork();
  client.send(turn(50));
  client.send(turn(5_000));
  socket.uncork();
  expect(await over).toBe(1008);
  expect((await proxy.lastConnection()).turns).toEqual([]);
  expect(atProvider).toEqual([]);
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
  await close();
});

test('a turn whose client leaves before it may be passed on has spent nothing', async () => {
  const atProvider: string[] = [];
  const { gate, proxy, client, close } = await openTurns(atProvider);
  const second = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const reserve = gate.reserve.bind(gate);
  let turns = 0;
  // The second one has to wait for the money of other processes.
  vi.spyOn(gate, 'reserve').mockImplementation((...given) => {
    turns += 1;
    if (turns === 1) return reserve(...given);
    asked.resolve();
    return second.promise.then(() => reserve(...given));
  });
  const socket: Socket = Reflect.get(client, '_socket');
  socket.cork();
  client.send(turn(50));
  client.send(turn(50));
  socket.uncork();
  await asked.promise;
  client.terminate();
  expect((await proxy.lastConnection()).turns).toEqual([]);
  second.resolve();
  expect(atProvider).toEqual([]);
  expect(await untilQuiet('', freeId)).toMatchObject({ spent: 0n, reserved: 0n });
  await close();
});
