/**
 * `npm run bench:budgets`: trials of a run's budget under 64 parallel calls with random prompts, maxima, streams, aborts,
 * cuts, JSON and websocket turns, over a whole gateway of two proxy processes, judged by the provider's own books. Every
 * tenth trial a proxy process is killed in the middle; `--no-kill` leaves that out. `--trials N` (100), `--seed N` (1).
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { ENDINGS, startBillingProvider } from '../../test/support/budgets/billing-provider.ts';
import { costInBooks, runTrial } from '../../test/support/budgets/budget-trial.ts';

/** The list prices of gpt-4o-mini, in pico-dollars for a token. */
const RATES = { prompt: 150_000n, output: 600_000n } as const;
const AMOUNT = '0.01';
const CALLS = 64;
const KILL_EVERY = 10;

const Uses = z.object({
  id: z.number(),
  uses: z.array(z.object({ spent_usd: z.string(), reserved_usd: z.string() })),
});

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    kill: { type: 'boolean', default: true },
  },
  allowNegative: true,
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

async function main(): Promise<void> {
  const trials = Number(values.trials);
  const provider = await startBillingProvider();
  const gateway = await startGateway({
    env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin, TOLLGATE_WORKERS: '2' },
  });
  const budget = Uses.parse(
    await gateway.api('/api/v1/budgets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Trials', scope: 'run', amount_usd: AMOUNT, period: 'once' }),
    }),
  );
  const amount = parseUsd(AMOUNT);
  const sums = { over: 0, reservedLeft: 0, underUsed: 0, refused: 0, admitted: 0, killed: 0, odd: 0 };
  const shares: number[] = [];
  for (let trial = 1; trial <= trials; trial += 1) {
    const seed = Number(values.seed) * 100_000 + trial;
    const random = createSeededRandom(seed);
    const run = `trial-${seed}`;
    const isKilled = values.kill && trial % KILL_EVERY === 0;
    const [{ burst, rest }] = await Promise.all([
      runTrial(
        { bases: [gateway.base], key: gateway.key },
        { run, calls: CALLS, random, maxTokens: 1_500, endings: ENDINGS },
      ),
      isKilled ? killProxy(gateway, random) : null,
    ]);
    // A killed process's calls are settled when its records are stored.
    const use = await waitUntil(
      `nothing of ${run} is reserved`,
      async () => {
        const now = await readUse(gateway, budget.id, run);
        return now?.reserved_usd === '0' ? now : undefined;
      },
      60_000,
    ).catch(() => readUse(gateway, budget.id, run));
    const cost = costInBooks(provider, run, RATES);
    const spent = parseUsd(use?.spent_usd ?? '0');
    if (cost > amount || spent > amount || cost > spent) {
      sums.over += 1;
      process.stdout.write(`seed ${seed}: cost ${cost}, spent ${spent}, budget ${amount}\n`);
    }
    if (use?.reserved_usd !== '0') sums.reservedLeft += 1;
    const share = Number((spent * 1000n) / amount) / 1000;
    shares.push(share);
    if (share < 0.9) sums.underUsed += 1;
    sums.refused += burst.refused + rest.refused;
    sums.admitted += burst.admitted + rest.admitted;
    if (!isKilled) sums.odd += burst.odd.length + rest.odd.length;
    if (isKilled) sums.killed += 1;
  }
  shares.sort((a, b) => a - b);
  process.stdout.write(
    `${JSON.stringify({ trials, ...sums, leastShareUsed: shares[0], medianShareUsed: shares[shares.length >> 1] })}\n`,
  );
  await gateway.stop();
  await provider.close();
  process.exitCode = sums.over + sums.reservedLeft === 0 ? 0 : 1;
}

await main();
