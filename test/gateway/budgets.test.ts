/** Budgets over a whole gateway of two proxy processes: they hold while processes are killed and replaced, and SDKs are told. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { type BillingProvider, ENDINGS, startBillingProvider } from '../support/budgets/billing-provider.ts';
import { costInBooks, runTrial } from '../support/budgets/budget-trial.ts';
import { startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

/** The list prices of gpt-4o-mini, in pico-dollars for a token. */
const RATES = { prompt: 150_000n, output: 600_000n } as const;
const AMOUNT = '0.01';

const Budget = z.object({
  id: z.number(),
  uses: z.array(z.object({ value: z.string(), spent_usd: z.string(), reserved_usd: z.string() })),
});
type Budget = z.infer<typeof Budget>;
const Restart = z.object({ requested: z.number(), finished: z.number() });

let provider: BillingProvider;
let gateway: TestGateway;
let runs: Budget;

beforeAll(async () => {
  provider = await startBillingProvider();
  gateway = await startGateway({
    env: {
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin,
      TOLLGATE_WORKERS: '2',
    },
  });
  runs = await create({ name: 'Agents', scope: 'run', amount_usd: AMOUNT, period: 'once', contact: 'Ada' });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

async function create(body: object): Promise<Budget> {
  return Budget.parse(await gateway.api('/api/v1/budgets', jsonRequest('POST', body)));
}

function jsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** What a run has used of the budget, once none of it is reserved. */
function untilQuiet(run: string, budget = runs): Promise<Budget['uses'][number]> {
  return waitUntil(
    `nothing of ${run} is reserved`,
    async () => {
      const answer = await gateway.api(`/api/v1/budgets/${budget.id}?value=${encodeURIComponent(run)}`);
      const [use] = Budget.parse(answer).uses;
      return use?.reserved_usd === '0' ? use : undefined;
    },
    60_000,
  );
}

async function judge(run: string, burst: { readonly refused: number }): Promise<void> {
  const use = await untilQuiet(run);
  const cost = costInBooks(provider, run, RATES);
  expect(burst.refused).toBeGreaterThan(0);
  expect(cost).toBeGreaterThan(0n);
  expect(cost).toBeLessThanOrEqual(parseUsd(AMOUNT));
  expect(parseUsd(use.spent_usd)).toBeGreaterThanOrEqual(cost);
  expect(parseUsd(use.spent_usd)).toBeLessThanOrEqual(parseUsd(AMOUNT));
}

function trial(run: string, seed: number) {
  return runTrial(
    { bases: [gateway.base], key: gateway.key },
    { run, calls: 64, random: createSeededRandom(seed), maxTokens: 1_500, endings: ENDINGS },
  );
}

it('64 parallel calls over two processes spend no more than the budget, and at least 90 % of it', async () => {
  for (const seed of [1, 2, 3]) {
    const { burst, rest } = await trial(`calm-${seed}`, seed);
    expect([...burst.odd, ...rest.odd]).toEqual([]);
    await judge(`calm-${seed}`, burst);
    const use = await untilQuiet(`calm-${seed}`);
    expect(parseUsd(use.spent_usd)).toBeGreaterThanOrEqual((parseUsd(AMOUNT) * 9n) / 10n);
  }
});

it('a key keeps its budget when it is rotated, under either number', async () => {
  const Key = z.object({ id: z.number(), key: z.string() });
  const old = Key.parse(await gateway.api('/api/v1/keys', jsonRequest('POST', { name: 'Rotated' })));
  const body = { name: 'Rotated', scope: 'key', value: String(old.id), amount_usd: '0.001', period: 'once' };
  const budget = await create(body);
  const next = Key.parse(
    await gateway.api(`/api/v1/keys/${old.id}/rotate`, jsonRequest('POST', { overlap_seconds: 600 })),
  );
  const step = (key: string) =>
    fetch(`${gateway.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-gateway-key': key, authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        max_tokens: 400,
        messages: [{ role: 'user', content: 'go on' }],
        metadata: { run: 'rotated', ending: 'json', output: '400', delay: '0' },
      }),
    }).then(async (answer) => {
      await answer.text();
      return answer.status;
    });
  await waitUntil('the budget is in force', async () => ((await step(old.key)) === 429 ? true : undefined), 30_000);
  expect(await step(next.key)).toBe(429);

  const spent = (await untilQuiet(String(old.id), budget)).spent_usd;
  expect((await untilQuiet(String(next.id), budget)).spent_usd).toBe(spent);
  const unknown = await gateway
    .api('/api/v1/budgets', jsonRequest('POST', { ...body, value: 'Rotated' }))
    .catch(String);
  expect(unknown).toContain('is not the id of a gateway key');
});

it('nor do they while a proxy process is killed or all are replaced, and what was held is let go', async () => {
  const killing = trial('killed', 4);
  await new Promise((resolve) => setTimeout(resolve, 15));
  const proxy = (await gateway.processes()).find(({ role }) => role === 'proxy');
  process.kill(proxy?.pid ?? 0, 'SIGKILL');
  await judge('killed', (await killing).burst);

  const replacing = trial('replaced', 5);
  const { requested } = Restart.parse(await gateway.api('/api/v1/restart', { method: 'POST' }));
  await judge('replaced', (await replacing).burst);
  // The admin API is away while its own process is replaced, which is the last.
  await waitUntil(
    'the restart is over',
    async () => {
      const status = await gateway.api('/api/v1/status').catch(() => null);
      if (z.object({ restart: Restart }).safeParse(status).data?.restart.finished !== requested) return undefined;
      return gateway.api('/api/v1/budgets').catch(() => undefined);
    },
    120_000,
  );
});

it('an agent that works through an SDK stops with a message that it can show, and goes on when the budget is raised', async () => {
  const run = `loop-${crypto.randomUUID()}`;
  const loop = { name: 'Loop', scope: 'run', value: run, amount_usd: '0.001', period: 'once', contact: 'Ada' };
  const budget = await create(loop);
  const headers = { 'x-gateway-key': gateway.key, 'x-gateway-trace-id': run };
  const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${gateway.base}/v1`, defaultHeaders: headers });
  const step = () =>
    openai.chat.completions.create({
      model: 'gpt-4o-mini',
      max_tokens: 400,
      messages: [{ role: 'user', content: 'go on' }],
      metadata: { run, ending: 'json', output: '400', delay: '0' },
    });
  const failure = await untilItFails(step);
  expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
  expect(String(failure)).toMatch(/budget "Loop" of this run: \$0\.001 in all; .* ask Ada for more/);
  const { calls } = provider.booksOf(run);
  expect(calls).toBeGreaterThan(0);

  const anthropic = new Anthropic({ apiKey: 'sk-ant-test', baseURL: gateway.base, defaultHeaders: headers });
  const refused = await anthropic.messages
    .create({ model: 'claude-haiku-4-5', max_tokens: 4_000, messages: [{ role: 'user', content: 'go on' }] })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
  expect(String(refused)).toContain('budget "Agents" of this run');

  // Each was asked once: neither SDK has tried again.
  const { data } = z
    .object({ data: z.array(z.object({ error_type: z.string().nullable() })) })
    .parse(await waitForRefusals());
  expect(data.filter(({ error_type: type }) => type === 'budget_exceeded')).toHaveLength(2);

  await gateway.api(`/api/v1/budgets/${budget.id}`, jsonRequest('PATCH', { amount_usd: '0.01' }));
  await gateway.api(`/api/v1/budgets/${runs.id}`, jsonRequest('PATCH', { amount_usd: '0.02' }));
  await waitUntil(
    'the budget is raised',
    async () => ((await step().catch(() => null)) === null ? undefined : true),
    10_000,
  );
  expect(provider.booksOf(run).calls).toBe(calls + 1);

  async function waitForRefusals(): Promise<unknown> {
    return waitUntil('both refusals are stored', async () => {
      const answer = await gateway.api(`/api/v1/logs?f=trace_id:eq:${run}&f=outcome:eq:rejected&limit=50`);
      return z.object({ data: z.array(z.unknown()) }).parse(answer).data.length >= 2 ? answer : undefined;
    });
  }
});

it('a deleted budget is answered once more, and is not listed any more', async () => {
  const { id } = await create({ name: 'Short', scope: 'account', amount_usd: '1', period: 'day' });
  const one = (method: string) => gateway.api(`/api/v1/budgets/${id}`, { method });
  expect(await one('DELETE')).toMatchObject({ id, name: 'Short', time_zone: 'UTC' });
  await expect(one('DELETE')).rejects.toThrow('404');
  expect(await gateway.api('/api/v1/budgets?scope=account')).toMatchObject({ data: [] });
});

async function untilItFails(step: () => Promise<unknown>): Promise<unknown> {
  for (let calls = 0; calls < 100; calls += 1) {
    try {
      await step();
    } catch (error) {
      return error;
    }
  }
  return null;
}

it('says what it sets aside, and can be told to set aside something else', async () => {
  const Reserving = z.object({ id: z.number(), reserves: z.string() });
  const asked = { name: 'Usual', scope: 'account', amount_usd: '1', period: 'day', hard: false, reserves: 'usual' };
  const made = Reserving.parse(await gateway.api('/api/v1/budgets', jsonRequest('POST', asked)));
  expect(made.reserves).toBe('usual');
  const path = `/api/v1/budgets/${made.id}`;
  const renamed = Reserving.parse(await gateway.api(path, jsonRequest('PATCH', { name: 'Usually' })));
  expect(renamed.reserves).toBe('usual');
  const changed = Reserving.parse(await gateway.api(path, jsonRequest('PATCH', { reserves: 'greatest' })));
  expect(changed.reserves).toBe('greatest');
});
