/** What calls reserve and cost by the price book, through a proxy: all recorded exchanges, and bodies of any size. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, expect, test, vi } from 'vitest';
import type { Budget } from '../../src/budgets/budget.ts';
import { LEDGER_NAME, openLedgerDatabase } from '../../src/budgets/ledger-file.ts';
import { LedgerUpkeep } from '../../src/budgets/ledger-upkeep.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { openProxyBudgets } from '../../src/proxy/budget/open-proxy-budgets.ts';
import { createClock } from '../../src/vocabulary/clock.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { type Fixture, listFixtures, requestBody } from '../support/fixtures.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type RecordedCall, startProxy } from './start-proxy.ts';

const log = pino({ level: 'silent' });
const BUDGET: Budget = {
  id: 1,
  accountId: 1,
  name: 'All',
  scope: 'account',
  metadataKey: null,
  value: null,
  amount: parseUsd('100000'),
  period: 'once',
  timeZone: 'UTC',
  isHard: true,
  reserves: 'greatest',
  whenUnknown: 'hold',
  heldWhenUnknown: parseUsd('1'),
  contact: null,
  createdAtMs: 0,
};
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-budget-prices-'));
const upkeep = new LedgerUpkeep(openLedgerDatabase(join(dataDir, LEDGER_NAME), 'process'));
upkeep.publish([BUDGET]);
const budgets = openProxyBudgets({ dataDir, process: 'p1', durability: 'process', clock: createClock(), log });
const provider = await startScriptedProvider();
const proxy = await startProxy(provider.origin, {}, {}, undefined, undefined, {}, null, { budgets });
const FIXTURES = listFixtures();

afterAll(async () => {
  await proxy.close();
  budgets?.close();
  upkeep.close();
  await provider.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function findFixture(owner: string, name: string): Fixture {
  const fixture = FIXTURES.find((one) => one.provider === owner && one.name === name);
  if (fixture === undefined) throw new Error('no such fixture');
  return fixture;
}

async function callThrough(
  fixture: Fixture,
  body: Buffer = requestBody(fixture),
  more: Readonly<Record<string, string>> = {},
): Promise<RecordedCall> {
  provider.setAnswer(() => {
    const headers = Object.entries(fixture.headers).filter(
      ([name]) => !/^(content-length|transfer-encoding)$/i.test(name),
    );
    return buildAnswer({ status: fixture.status, headers, framing: 'chunked', body: fixture.body });
  });
  const answer = await fetch(`${proxy.base}${fixture.request.path}`, {
    method: fixture.request.method,
    headers: {
      'x-gateway-provider': fixture.provider,
      ...fixture.request.headers,
      'x-gateway-key': proxy.key,
      ...more,
    },
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
  await answer.arrayBuffer();
  return proxy.waitForCall(answer.headers.get('x-gateway-request-id') ?? '');
}

test('the cost of every recorded exchange is that of the shipper, and nothing stays reserved but what nobody knows', async () => {
  const book = createPriceBook();
  const told: [string, string | null | undefined][] = [];
  const stored: [string, string | null | undefined][] = [];
  /** Results, which the shipper counts with the first call that has them. */
  const counted = new Set<string>();
  /** What was held for results that are fetched later. */
  const later = new Map<string, bigint>();
  let kept = 0n;
  for (const fixture of FIXTURES) {
    const { begin, end } = await callThrough(fixture);
    const { totalCost: ownCost } = book.priceCall(toBillableCall(begin, end));
    const result = `${fixture.provider} ${end.billedOnceAs}`;
    const totalCost = end.billedOnceAs !== undefined && counted.has(result) ? 0n : ownCost;
    const isKnown = totalCost !== null && !end.flags.includes('usage_later');
    const held = begin.budgets?.[0]?.amount;
    if (end.billedLaterAs !== undefined) later.set(`${fixture.provider} ${end.billedLaterAs}`, parseUsd(held ?? '0'));
    const replaced = end.billedOnceAs === undefined || counted.has(result) ? 0n : (later.get(result) ?? 0n);
    if (end.billedOnceAs !== undefined && (isKnown || begin.billed)) counted.add(result);
    const cost = isKnown ? formatUsd(totalCost - replaced) : null;
    told.push([fixture.name, end.budgetCost]);
    // What makes no claim has no cost in a budget.
    stored.push([fixture.name, held === undefined ? undefined : cost]);
    if (held !== undefined) kept += isKnown ? totalCost - replaced : parseUsd(held);
  }
  expect(told).toEqual(stored);
  await upkeep.ask(['p1']);
  const [use] = upkeep.list({ accountId: 1, budgetId: 1 }, {}, 1, ['p1']);
  expect([use?.reserved, use?.spent]).toEqual([0n, kept]);
}, 60_000);

test('a long body is held, so that its bound is known; of one that is encoded the budget holds its stated sum', async () => {
  const fixture = FIXTURES.find(({ name, provider: owner }) => owner === 'anthropic' && name === 'messages');
  if (fixture === undefined) throw new Error('no such fixture');
  // Of a model that no exchange above has raised the bounds of.
  const asked = {
    model: 'claude-opus-4-1',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'x'.repeat(400_000) }],
  };
  const body = Buffer.from(JSON.stringify(asked));
  const read = await callThrough(fixture, body);
  // As many tokens as bytes are more than the window of 200,000: at 15 dollars a million, and 100 tokens at 75.
  expect(read.begin.budgets?.[0]?.amount).toBe('3.007500000036');
  const unread = await callThrough(fixture, gzipSync(body), { 'content-encoding': 'gzip' });
  expect(unread.begin.budgets?.[0]?.amount).toBe('1');
}, 30_000);

test('what fetches the results of a batch holds nothing, is never refused, and counts their cost once', async () => {
  const fixture = findFixture('anthropic', 'batch-results');
  const full: Budget = { ...BUDGET, id: 5, name: 'Full', amount: 1n, whenUnknown: 'refuse' };
  upkeep.publish([full]);
  await vi.waitUntil(() => budgets?.gate.find(5) !== null, 10_000);
  const path = fixture.request.path.replace('demo01', 'another');
  const asked = { ...fixture, request: { ...fixture.request, path } };
  const [first, again] = [await callThrough(asked), await callThrough(asked)];
  upkeep.publish([BUDGET]);
  await vi.waitUntil(() => budgets?.gate.find(1) !== null, 10_000);
  expect([first.end.status, again.end.status]).toEqual([200, 200]);
  expect(first.begin.budgets).toMatchObject([{ budgetId: 5, amount: '0' }]);
  // Of claude-haiku-4-5 0.0001315 and of claude-opus-5 0.00138, at half their rates.
  expect([first.end.budgetCost, again.end.budgetCost]).toEqual(['0.0015115', '0']);
}, 30_000);

test('the fetch of a background response counts once, in place of what was held for it', async () => {
  const body = { model: 'gpt-5-mini', input: 'Take your time.', background: true };
  const created = findFixture('openai', 'responses-background-created');
  const fetched = findFixture('openai', 'responses-background-fetched');
  const called = (fixture: Fixture, id: string, sent?: object) => {
    const answer = fixture.body.toString().replaceAll('resp_bg0001', id);
    const request = { ...fixture.request, path: fixture.request.path.replaceAll('resp_bg0001', id) };
    const asked = { ...fixture, request, body: Buffer.from(answer) };
    return sent === undefined ? callThrough(asked) : callThrough(asked, Buffer.from(JSON.stringify(sent)));
  };
  const spent = async () => {
    await upkeep.ask(['p1']);
    return upkeep.list({ accountId: 1, budgetId: 1 }, {}, 1, ['p1'])[0]?.spent ?? 0n;
  };
  const before = await spent();
  const asked = await called(created, 'resp_later1', body);
  const held = parseUsd(asked.begin.budgets?.[0]?.amount ?? '0');
  expect([asked.end.budgetCost, (await spent()) - before]).toEqual([null, held]);
  const [first, again] = [await called(fetched, 'resp_later1'), await called(fetched, 'resp_later1')];
  expect(first.end.budgetCost).toBe(formatUsd(parseUsd('0.0002325') - held));
  expect([again.end.budgetCost, (await spent()) - before]).toEqual(['0', parseUsd('0.0002325')]);
  // One that no process of this node has asked for counts as it is.
  expect((await called(fetched, 'resp_strange')).end.budgetCost).toBe('0.0002325');
}, 30_000);

test('a result whose cost is not known leaves what was held for it, however often it is fetched', async () => {
  const model = 'accounts/fireworks/models/gpt-oss-120b';
  const called = (name: string, sent?: object) => {
    const fixture = findFixture('openai', name);
    const answer = fixture.body
      .toString()
      .replaceAll('resp_bg0001', 'resp_fw1')
      .replace(/"gpt-5-mini[^"]*"/, `"${model}"`);
    const path = fixture.request.path.replaceAll('resp_bg0001', 'resp_fw1').replace('/v1/', '/inference/v1/');
    const request = { ...fixture.request, path };
    const asked = { ...fixture, provider: 'fireworks' as const, request, body: Buffer.from(answer) };
    return sent === undefined ? callThrough(asked) : callThrough(asked, Buffer.from(JSON.stringify(sent)));
  };
  const spent = async () => {
    await upkeep.ask(['p1']);
    return upkeep.list({ accountId: 1, budgetId: 1 }, {}, 1, ['p1'])[0]?.spent ?? 0n;
  };
  const before = await spent();
  const asked = await called('responses-background-created', { model, input: 'Take your time.', background: true });
  const held = parseUsd(asked.begin.budgets?.[0]?.amount ?? '0');
  expect(held).toBeGreaterThan(0n);
  const first = await called('responses-background-fetched');
  const again = await called('responses-background-fetched');
  expect([asked.end.billedLaterAs, first.end.billedOnceAs, again.end.billedOnceAs]).toEqual([
    'resp_fw1',
    'resp_fw1',
    'resp_fw1',
  ]);
  expect([first.end.budgetCost, again.end.budgetCost]).toEqual([null, null]);
  expect((await spent()) - before).toBe(held);
}, 30_000);

test('what fetches results passes while the node may not spend, and lets no other call through', async () => {
  const results = findFixture('anthropic', 'batch-results');
  const path = results.request.path.replace('demo01', 'waiting');
  upkeep.setMode('waiting');
  const fetched = await callThrough({ ...results, request: { ...results.request, path } });
  const asked = await callThrough(findFixture('anthropic', 'chat'));
  upkeep.setMode('sole');
  expect([fetched.end.status, asked.end.errorType]).toEqual([200, 'budget_unavailable']);
}, 30_000);

test('a tier that a header asks for is reserved', async () => {
  const fixture = FIXTURES.find(
    ({ provider: owner, request }) => owner === 'bedrock' && /\/invoke$/.test(request.path),
  );
  if (fixture === undefined) throw new Error('no such fixture');
  const path = '/model/amazon.nova-premier-v1:0/invoke';
  const body = Buffer.from(JSON.stringify({ messages: [], inferenceConfig: { maxTokens: 10 } }));
  const asked = { ...fixture, request: { ...fixture.request, path } };
  const usual = await callThrough(asked, body);
  // 562 tokens at 2.50 dollars a million and 10 at 12.50; with priority at 4.375 and 21.875.
  expect(usual.begin.budgets?.[0]?.amount).toBe('0.001530000036');
  const first = await callThrough(asked, body, { 'x-amzn-bedrock-service-tier': 'priority' });
  expect(first.begin.budgets?.[0]?.amount).toBe('0.002677500036');
}, 30_000);

test('a budget that sets aside what calls usually cost does so once a hundred of the key have told', async () => {
  const usual: Budget = {
    ...BUDGET,
    id: 2,
    name: 'Usual',
    reserves: 'usual',
    whenUnknown: 'refuse',
    heldWhenUnknown: null,
  };
  upkeep.publish([BUDGET, usual]);
  await vi.waitFor(() => expect(budgets?.gate.find(2)).not.toBeNull(), { timeout: 10_000 });
  const fixture = FIXTURES.find(({ name, provider: owner }) => owner === 'anthropic' && name === 'messages');
  if (fixture === undefined) throw new Error('no such fixture');
  const asked = { model: 'claude-opus-4-5', max_tokens: 4_000, messages: [{ role: 'user', content: 'Hello.' }] };
  const body = Buffer.from(JSON.stringify(asked));
  const amounts = async (text = body) => (await callThrough(fixture, text)).begin.budgets?.map(({ amount }) => amount);
  const [greatest = '', first] = (await amounts()) ?? [];
  expect(first).toBe(greatest);
  for (let call = 0; call < 100; call += 1) await callThrough(fixture, body);
  const { end } = await callThrough(fixture, body);
  const [still, held = ''] = (await amounts()) ?? [];
  expect(still).toBe(greatest);
  const cost = parseUsd(end.budgetCost ?? '');
  expect([parseUsd(held) >= cost, parseUsd(held) <= (cost * 17n) / 16n]).toEqual([true, true]);
  // It also stands for what has no greatest cost.
  const open = Buffer.from(JSON.stringify({ ...asked, mcp_servers: [{}] }));
  expect(await amounts(open)).toEqual(['1', held]);
}, 60_000);
