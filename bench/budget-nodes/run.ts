/**
 * `npm run bench:budget-nodes`: the trials of `bench:budgets` over two nodes that share a database, each with a ledger of
 * its own. In every fourth trial the database is away from the second call on: `--away` has it so in all, `--no-away` in
 * none. `--trials N` (100), `--seed N` (1).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { insertBudget } from '../../src/control/budgets/budget-store.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { startAdminDatabase } from '../../test/support/admin-database.ts';
import { ENDINGS, startBillingProvider } from '../../test/support/budgets/billing-provider.ts';
import { createBudgetNodes } from '../../test/support/budgets/budget-nodes.ts';
import { costInBooks, runTrial } from '../../test/support/budgets/budget-trial.ts';
import { FLAT_RATES } from '../../test/support/budgets/flat-costs.ts';
import { POSTGRES_KINDS } from '../../test/support/postgres.ts';

const AMOUNT = parseUsd('0.02');
const CALLS = 64;
const AWAY_EVERY = 4;
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

async function main(): Promise<void> {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to run with');
  const db = await startAdminDatabase(kind);
  const provider = await startBillingProvider();
  const fleet = createBudgetNodes(db.pool, provider.origin);
  const { id } = await insertBudget(db.pool, {
    accountId: 1,
    name: 'Trials',
    scope: 'run',
    metadataKey: null,
    value: null,
    amount: AMOUNT,
    period: 'once',
    timeZone: 'UTC',
    isHard: true,
    whenUnknown: 'refuse',
    heldWhenUnknown: null,
    reserves: 'greatest',
    contact: null,
  });
  const nodes = [await fleet.start('a'), await fleet.start('b')];
  await fleet.until(async () => (await fleet.stateOf()) === 'a sharing, b sharing');
  await fleet.until(async () => nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1));
  const gateway = { bases: nodes.map(({ proxy }) => proxy.base), key: fleet.key };
  const sums = {
    over: 0,
    reservedLeft: 0,
    underUsed: 0,
    awayTrials: 0,
    awayUnderUsed: 0,
    refused: 0,
    admitted: 0,
    odd: 0,
  };
  const shares: number[] = [];
  for (let trial = 1; trial <= Number(values.trials); trial += 1) {
    const seed = Number(values.seed) * 100_000 + trial;
    const random = createSeededRandom(seed);
    const run = `trial-${seed}`;
    const isAway = isAwayIn(trial);
    if (isAway) {
      // Both nodes have seen the run; from then on each has what it holds.
      await runTrial(gateway, { run, calls: 2, random, maxTokens: 50, endings: ['json'] });
      fleet.setAway(true);
      await sleep(SETTLE_MS);
    }
    const { burst, rest } = await runTrial(gateway, { run, calls: CALLS, random, maxTokens: 600, endings: ENDINGS });
    fleet.setAway(false);
    const spent = await fleet.spentOf(run, id).catch(() => null);
    const cost = costInBooks(provider, run, FLAT_RATES);
    if (spent === null) sums.reservedLeft += 1;
    else if (cost > AMOUNT || spent > AMOUNT || cost > spent) {
      sums.over += 1;
      process.stdout.write(`seed ${seed}: cost ${cost}, spent ${spent}, budget ${AMOUNT}\n`);
    }
    const share = Number(((spent ?? 0n) * 1000n) / AMOUNT) / 1000;
    if (isAway) {
      sums.awayTrials += 1;
      if (share < 0.9) sums.awayUnderUsed += 1;
    } else {
      shares.push(share);
      if (share < 0.9) {
        sums.underUsed += 1;
        process.stdout.write(`seed ${seed}: used ${share}\n`);
      }
    }
    sums.refused += burst.refused + rest.refused;
    sums.admitted += burst.admitted + rest.admitted;
    sums.odd += burst.odd.length + rest.odd.length;
  }
  shares.sort((a, b) => a - b);
  const told = {
    trials: Number(values.trials),
    ...sums,
    leastShareUsed: shares[0],
    medianShareUsed: shares[shares.length >> 1],
  };
  process.stdout.write(`${JSON.stringify(told)}\n`);
  fleet.setAway(true);
  await fleet.stopAll();
  await provider.close();
  await db.stop();
  process.exitCode = sums.over + sums.reservedLeft === 0 ? 0 : 1;
}

await main();
