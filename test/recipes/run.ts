/**
 * `npm run test:recipes`: the recipes of docs/clients.md, from the text of the page, through a real gateway to the demo's
 * stand-in for all providers. `--in-ci`: only those that need no package besides this repository's. Names of recipes or of
 * runners: only these.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeProvider } from '../../src/demo/fake-provider.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { root } from './install-once.ts';
import { judgeRecord, type LogRow } from './judge-record.ts';
import { readRecipes } from './read-recipes.ts';
import { RECIPE_CASES, type RecipeCase } from './recipe-cases.ts';
import type { PreparedRunner } from './recipe-runner.ts';
import { runRecipe, type Stage } from './run-recipe.ts';
import { RUNNER_NAMES, RUNNERS, type RunnerName } from './runners.ts';

const START_LIMIT_MS = 180_000;
const ROWS_READ = 50;
const SETTLE_MS = 2_000;
/** What needs no package besides this repository's. */
const IN_CI: readonly RunnerName[] = ['shell', 'node'];

const isInCi = process.argv.includes('--in-ci');
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const chosen = RECIPE_CASES.filter(
  ({ recipe, runner }) =>
    (names.length === 0 || names.includes(recipe) || names.includes(runner)) && !(isInCi && !IN_CI.includes(runner)),
);

interface Tally {
  ran: number;
  failed: number;
  notRun: number;
}

async function listSince(gateway: TestGateway, start: Date): Promise<readonly LogRow[]> {
  const { data } = asRecord(await gateway.api(`/api/v1/logs?from=${start.toISOString()}&limit=${ROWS_READ}`));
  return Array.isArray(data) ? data.map(asRecord) : [];
}

/** Undefined while a call is open or its row is on its way. */
async function listWhenStored(gateway: TestGateway, start: Date): Promise<readonly LogRow[] | undefined> {
  const accounts = asRecord(asRecord(await gateway.api('/api/v1/status'))['accounts']);
  if (accounts['stored'] !== accounts['accepted']) return undefined;
  const rows = await listSince(gateway, start);
  return rows.length > 0 && rows.every(({ outcome }) => outcome !== null) ? rows : undefined;
}

/** What is wrong, as sentences. */
async function tryRecipe(
  gateway: TestGateway,
  stage: Stage,
  prepared: PreparedRunner,
  one: RecipeCase,
): Promise<readonly string[]> {
  const start = new Date();
  try {
    await runRecipe(stage, prepared, RUNNERS[one.runner].opening, one);
  } catch (error) {
    return [String(error)];
  }
  // A program that makes calls in the background ends before they do, and a proxy says every second what it has accepted.
  if (one.makesSeveralCalls === true) await sleep(SETTLE_MS);
  const rows = await waitUntil('the records of the calls', () => listWhenStored(gateway, start)).catch(() => []);
  if (rows.length === 0 || (rows.length > 1 && one.makesSeveralCalls !== true)) {
    return [`the log has ${rows.length} calls of it`];
  }
  return rows.flatMap((row) => judgeRecord(one, row));
}

async function tryAll(gateway: TestGateway, stage: Stage): Promise<Tally> {
  const tally = { ran: 0, failed: 0, notRun: 0 };
  for (const runner of RUNNER_NAMES) {
    const cases = chosen.filter((one) => one.runner === runner);
    if (cases.length === 0) continue;
    const prepared = RUNNERS[runner].prepare(cases);
    for (const one of cases) {
      const title = `${one.recipe} (${[runner, ...one.modules].join(', ')})`;
      const reason = 'needs' in prepared ? `needs ${prepared.needs}` : prepared.reasonAgainst(one);
      if (reason !== null || 'needs' in prepared) {
        tally.notRun += 1;
        console.log(`NOT RUN  ${title}: ${reason}`);
        continue;
      }
      const wrong = await tryRecipe(gateway, stage, prepared, one);
      tally.ran += 1;
      if (wrong.length > 0) tally.failed += 1;
      console.log(wrong.length === 0 ? `ok       ${title}` : `FAILED   ${title}: ${wrong.join('; ')}`);
    }
  }
  return tally;
}

/** It may stand in an address, and makes runs of agents' sessions. */
async function createKey(gateway: TestGateway): Promise<string> {
  const body = JSON.stringify({ name: 'recipes', allow_in_address: true, runs_from: ['agents'] });
  return String(asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body }))['key']);
}

const provider = await startFakeProvider({
  host: '127.0.0.1',
  port: 0,
  fixturesDir: join(root, 'fixtures'),
  latencyMs: 0,
  eventDelayMs: 0,
});
const folder = mkdtempSync(join(tmpdir(), 'tollgate-recipes-'));
let tally: Tally;
try {
  const upstreams = PROVIDER_NAMES.map((name) => [
    `TOLLGATE_UPSTREAM_${name.toUpperCase()}`,
    `${provider.origin}/${name}`,
  ]);
  const gateway = await startGateway({ env: Object.fromEntries(upstreams), timeoutMs: START_LIMIT_MS });
  try {
    const blocks = readRecipes(readFileSync(join(root, 'docs/clients.md'), 'utf8'));
    tally = await tryAll(gateway, { blocks, host: `127.0.0.1:${gateway.port}`, key: await createKey(gateway), folder });
  } finally {
    await gateway.stop();
  }
} finally {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${tally.ran - tally.failed} recipes run as written, ${tally.failed} failed, ${tally.notRun} not run`);
process.exitCode = tally.failed > 0 || chosen.length === 0 ? 1 : 0;
