/**
 * `npm run test:recipes`: the recipes of docs/clients.md, from the text of the page, through a real gateway to the demo's
 * stand-in for all providers. `--in-ci`: only those that need no package besides this repository's. Names: only these.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeProvider } from '../../src/demo/fake-provider.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { judgeRecord, type LogRow } from './judge-record.ts';
import { findRecipesPython, listMissingModules } from './python-environment.ts';
import { readRecipes } from './read-recipes.ts';
import { RECIPE_CASES, type RecipeCase } from './recipe-cases.ts';
import { runRecipe, type Stage } from './run-recipe.ts';

const root = join(import.meta.dirname, '../..');
const START_LIMIT_MS = 180_000;
const ROWS_READ = 5;

const isInCi = process.argv.includes('--in-ci');
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const chosen = RECIPE_CASES.filter(
  ({ recipe, runner }) => (names.length === 0 || names.includes(recipe)) && !(isInCi && runner === 'python'),
);

const hasPython = chosen.some(({ runner }) => runner === 'python');
const python = hasPython ? findRecipesPython() : null;
const modules = chosen.flatMap((one) => (one.runner === 'python' ? one.modules : []));
const missing = python === null ? new Set<string>() : listMissingModules(python, modules);

/** Null where all is there. */
function reasonToLeaveOut({ runner, modules: needed }: RecipeCase): string | null {
  if (runner !== 'python') return null;
  if (python === null) return 'needs Python 3.11 or newer with venv (PYTHON: which one)';
  const lacking = needed.filter((name) => missing.has(name));
  return lacking.length === 0 ? null : `${lacking.join(', ')} not installed`;
}

async function listNewest(gateway: TestGateway): Promise<readonly LogRow[]> {
  const { data } = asRecord(await gateway.api(`/api/v1/logs?limit=${ROWS_READ}`));
  return Array.isArray(data) ? data.map(asRecord) : [];
}

/** What is wrong, as sentences. */
async function tryRecipe(gateway: TestGateway, stage: Stage, one: RecipeCase): Promise<readonly string[]> {
  const before = new Set((await listNewest(gateway)).map(({ id }) => id));
  try {
    await runRecipe(stage, one);
  } catch (error) {
    return [String(error)];
  }
  const rows = await waitUntil('the record of the call', async () => {
    const fresh = (await listNewest(gateway)).filter(({ id }) => !before.has(id));
    return fresh.length > 0 && fresh.every(({ outcome }) => outcome !== null) ? fresh : undefined;
  }).catch(() => []);
  if (rows.length !== 1) return [`the log has ${rows.length} calls of it, not 1`];
  return rows.flatMap((row) => judgeRecord(one, row));
}

const provider = await startFakeProvider({
  host: '127.0.0.1',
  port: 0,
  fixturesDir: join(root, 'fixtures'),
  latencyMs: 0,
  eventDelayMs: 0,
});
const folder = mkdtempSync(join(tmpdir(), 'tollgate-recipes-'));
let failures = 0;
let leftOut = 0;
try {
  const upstreams = PROVIDER_NAMES.map((name) => [
    `TOLLGATE_UPSTREAM_${name.toUpperCase()}`,
    `${provider.origin}/${name}`,
  ]);
  const gateway = await startGateway({ env: Object.fromEntries(upstreams), timeoutMs: START_LIMIT_MS });
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const blocks = readRecipes(readFileSync(join(root, 'docs/clients.md'), 'utf8'));
    const stage = { blocks, host: `127.0.0.1:${gateway.port}`, key: gateway.key, folder, python };
    for (const one of chosen) {
      const title = one.program === undefined ? one.recipe : `${one.recipe} (${one.runner}, ${one.modules.join()})`;
      const reason = reasonToLeaveOut(one);
      if (reason !== null) {
        leftOut += 1;
        console.log(`NOT RUN  ${title}: ${reason}`);
        continue;
      }
      const wrong = await tryRecipe(gateway, stage, one);
      if (wrong.length > 0) failures += 1;
      console.log(wrong.length === 0 ? `ok       ${title}` : `FAILED   ${title}: ${wrong.join('; ')}`);
    }
  } finally {
    await gateway.stop();
  }
} finally {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - failures - leftOut} recipes run as written, ${failures} failed, ${leftOut} not run`);
process.exitCode = failures > 0 || chosen.length === 0 ? 1 : 0;
