/**
 * `npm run bench:budgets`: trials of a run's budget under 64 parallel calls with random prompts, maxima, streams, aborts,
 * cuts, JSON and websocket turns, over a whole gateway, judged by the provider's own books. `--trials N` (100), `--seed N`
 * (1), `--processes N` (2), `--kill-every N` (10): a proxy process is killed in the middle of every so many trials; 0 for none.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { ENDINGS, startBillingProvider } from '../../test/support/budgets/billing-provider.ts';
import { costInBooks, runTrial } from '../../test/support/budgets/budget-trial.ts';
import { TrialTally } from './trial-tally.ts';

/** The list prices of gpt-4o-mini, in pico-dollars for a token. */
const RATES = { prompt: 150_000n, output: 600_000n } as const;
const AMOUNT = '0.01';
const CALLS = 64;
/** Enough to use up what the burst has left, whatever its calls were settled at. */
const REST_CALLS = 640;
const SAID_EVERY = 10;

const Uses = z.object({
  id: z.number(),
  uses: z.array(z.object({ spent_usd: z.string(), reserved_usd: z.string() })),
});

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    'kill-every': { type: 'string', default: '10' },
  },
});

async function readUse(gateway: TestGateway, budget: number, run: string) {
  const answer = await gateway.api(`/api/v1/budgets/${budget}?value=${encodeURIComponent(run)}`);
  return Uses.parse(answer).uses[0] ?? null;
}

async function killProxy(gateway: TestGateway, random: () => number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5 + random() * 60));
  const proxies = (await gateway.processes()).filter(({ role }) => role === 'proxy');
  const { pid } = proxies[Math.floor(random() * proxies.length)] ?? {};
  if (pid != null) process.kill(pid, 'SIGKILL');
}

/** What the run has used, once nothing is reserved: a killed process's calls are settled when its records are stored. */
function waitUntilSettled(gateway: TestGateway, budget: number, run: string) {
  return waitUntil(
    `nothing of ${run} is reserved`,
    async () => {
      const now = await readUse(gateway, budget, run);
      return now?.reserved_usd === '0' ? now : undefined;
    },
    60_000,
  ).catch(() => readUse(gateway, budget, run));
}

async function main(): Promise<void> {
  const trials = Number(values.trials);
  const provider = await startBillingProvider();
  const gateway = await startGateway({
    env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin, TOLLGATE_WORKERS: values.processes },
  });
  const budget = Uses.parse(
    await gateway.api('/api/v1/budgets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Trials', scope: 'run', amount_usd: AMOUNT, period: 'once' }),
    }),
  );
  const amount = parseUsd(AMOUNT);
  const tally = new TrialTally();
  const killEvery = Number(values['kill-every']);
  for (let trial = 1; trial <= trials; trial += 1) {
    const seed = Number(values.seed) * 100_000 + trial;
    const random = createSeededRandom(seed);
    const run = `trial-${seed}`;
    let lastRefusal = '';
    const onRefused = (text: string) => {
      lastRefusal = text;
    };
    const isKilled = killEvery > 0 && trial % killEvery === 0;
    const [{ burst, rest }] = await Promise.all([
      runTrial(
        { bases: [gateway.base], key: gateway.key },
        {
          run,
          calls: CALLS,
          restCalls: REST_CALLS,
          onRefused,
          random,
          maxTokens: 1_500,
          endings: ENDINGS,
          // Until then calls do not fit that fit afterwards.
          ...(isKilled ? { beforeRest: () => waitUntilSettled(gateway, budget.id, run) } : {}),
        },
      ),
      isKilled ? killProxy(gateway, random) : null,
    ]);
    const use = await waitUntilSettled(gateway, budget.id, run);
    tally.note({
      seed,
      budget: amount,
      cost: costInBooks(provider, run, RATES),
      spent: use?.reserved_usd === '0' ? parseUsd(use.spent_usd) : null,
      burst,
      rest,
      wasKilled: isKilled,
      lastRefusal,
    });
    if (trial % SAID_EVERY === 0) tally.print();
  }
  tally.print();
  await gateway.stop();
  await provider.close();
  process.exitCode = tally.isGood ? 0 : 1;
}

await main();
