/**
 * `npm run bench:budget-nodes`: the trials of `bench:budgets` over two nodes that share a database, each with a ledger of
 * its own. In every fourth trial the database is away from the second call on: `--away` has it so in all, `--no-away` in
 * none. `--trials N` (100), `--seed N` (1).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { startAdminDatabase } from '../../test/support/admin-database.ts';
import { ENDINGS, startBillingProvider } from '../../test/support/budgets/billing-provider.ts';
import { createBudgetNodes } from '../../test/support/budgets/budget-nodes.ts';
import { costInBooks, runTrial } from '../../test/support/budgets/budget-trial.ts';
import { FLAT_RATES } from '../../test/support/budgets/flat-costs.ts';
import { insertRunBudget } from '../../test/support/budgets/run-budget.ts';
import { POSTGRES_KINDS } from '../../test/support/postgres.ts';
import { TrialTally } from '../budgets/trial-tally.ts';

const AMOUNT = parseUsd('0.02');
const CALLS = 64;
/** Enough to use up what the burst has left, whatever its calls were settled at. */
const REST_CALLS = 640;
const AWAY_EVERY = 4;
const SAID_EVERY = 10;
/** How long the loops of a node take at most to end their work on the database. */
const SETTLE_MS = 150;

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    away: { type: 'boolean' },
  },
  allowNegative: true,
});

function isAwayIn(trial: number): boolean {
  return values.away ?? trial % AWAY_EVERY === 0;
}

/** With the database away a node can only spend what it holds, so that the shares of the budget do not compare. */
function printBoth(together: TrialTally, away: TrialTally): void {
  for (const [name, tally] of Object.entries({ together, away })) {
    process.stdout.write(`${name}: `);
    tally.print();
  }
}

async function main(): Promise<void> {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to run with');
  const db = await startAdminDatabase(kind);
  const provider = await startBillingProvider();
  const fleet = createBudgetNodes(db.pool, provider.origin);
  const id = await insertRunBudget(db.pool, AMOUNT);
  const nodes = [await fleet.start('a'), await fleet.start('b')];
  await fleet.until(async () => (await fleet.stateOf()) === 'a sharing, b sharing');
  await fleet.until(async () => nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1));
  const gateway = { bases: nodes.map(({ proxy }) => proxy.base), key: fleet.key };
  const together = new TrialTally();
  const away = new TrialTally();
  for (let trial = 1; trial <= Number(values.trials); trial += 1) {
    const seed = Number(values.seed) * 100_000 + trial;
    const random = createSeededRandom(seed);
    const run = `trial-${seed}`;
    let lastRefusal = '';
    const onRefused = (text: string) => {
      lastRefusal = text;
    };
    const isAway = isAwayIn(trial);
    if (isAway) {
      // Both nodes have seen the run; from then on each has what it holds.
      await runTrial(gateway, { run, calls: 2, random, maxTokens: 50, endings: ['json'] });
      fleet.setAway(true);
      await sleep(SETTLE_MS);
    }
    const { burst, rest } = await runTrial(gateway, {
      run,
      calls: CALLS,
      restCalls: REST_CALLS,
      onRefused,
      random,
      maxTokens: 600,
      endings: ENDINGS,
    });
    fleet.setAway(false);
    (isAway ? away : together).note({
      seed,
      budget: AMOUNT,
      cost: costInBooks(provider, run, FLAT_RATES),
      spent: await fleet.spentOf(run, id).catch(() => null),
      burst,
      rest,
      wasKilled: false,
      lastRefusal,
    });
    if (trial % SAID_EVERY === 0) printBoth(together, away);
  }
  printBoth(together, away);
  fleet.setAway(true);
  await fleet.stopAll();
  await provider.close();
  await db.stop();
  process.exitCode = together.isGood && away.isGood ? 0 : 1;
}

await main();
