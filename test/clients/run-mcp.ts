/**
 * The third part of `npm run test:clients`: Claude Code and Codex themselves ask the log over MCP, configured by the text of
 * docs/mcp.md, over standard input and over HTTP.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asRecord, startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { root } from '../recipes/install-once.ts';
import { type RecipeBlock, readRecipes } from '../recipes/read-recipes.ts';
import { AGENT_ENV, installAgents } from '../recipes/runners/agents.ts';
import { startToolCallingProvider } from './tool-calling-provider.ts';

const START_LIMIT_MS = 180_000;
const LIMIT_MS = 300_000;
const ASK_CLAUDE = `claude -p 'What runs were there?' --allowedTools mcp__tollgate__list_runs`;
/** Of a model without a code mode of its own, in which tools are no tools. */
const ASK_CODEX = `codex exec -m gpt-5.1 --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox 'What runs were there?'`;

const blocksOf = (page: string) => readRecipes(readFileSync(join(root, 'docs', page), 'utf8'));
const ofMcp = blocksOf('mcp.md');
const ofClients = blocksOf('clients.md');

function codeOf(blocks: readonly RecipeBlock[], name: string, gateway: TestGateway): string {
  const block = blocks.find((one) => one.name === name);
  if (block === undefined) throw new Error(`there is no recipe ${name}`);
  return block.code
    .replaceAll('127.0.0.1:4141', `127.0.0.1:${gateway.port}`)
    .replaceAll('127.0.0.1:4142', `127.0.0.1:${gateway.adminPort}`)
    .replaceAll('/path/to/clone', root);
}

interface Asked {
  readonly recipe: string;
  readonly token: string;
}

/** Its exit status. */
function ask(gateway: TestGateway, key: string, programs: string, { recipe, token }: Asked): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-mcp-'));
  const env = {
    ...AGENT_ENV,
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    NO_PROXY: '127.0.0.1,localhost',
    TOLLGATE_KEY: key,
    TOLLGATE_READ_TOKEN: token,
    TOLLGATE_DATA_DIR: gateway.dataDir,
    OPENAI_API_KEY: 'placeholder',
    ANTHROPIC_API_KEY: 'placeholder',
  };
  const commands = recipe.startsWith('codex')
    ? [ASK_CODEX]
    : [
        codeOf(ofMcp, recipe, gateway),
        // Without its own question.
        codeOf(ofClients, 'claude-code', gateway).replace(/^claude .*$/m, ''),
        ASK_CLAUDE,
      ];
  if (recipe.startsWith('codex')) {
    mkdirSync(join(home, '.codex'));
    const file = join(home, '.codex/config.toml');
    writeFileSync(file, `${codeOf(ofClients, 'codex', gateway)}\n${codeOf(ofMcp, recipe, gateway)}`);
    // Codex gives its servers little of its environment.
    if (recipe === 'codex') appendFileSync(file, `env = { TOLLGATE_DATA_DIR = "${gateway.dataDir}" }\n`);
  }
  return new Promise((resolve) => {
    const options = { cwd: home, env, timeout: LIMIT_MS };
    const child = execFile('sh', ['-ec', commands.join('\n')], options, (error) => {
      rmSync(home, { recursive: true, force: true });
      resolve(error === null ? 0 : 1);
    });
    child.stdin?.end();
  });
}

const programs = join(installAgents(), '.bin');
const provider = await startToolCallingProvider();
const gateway = await startGateway({
  env: { TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin, TOLLGATE_UPSTREAM_OPENAI: provider.origin },
  timeoutMs: START_LIMIT_MS,
});
try {
  const post = async (path: string, body: object) =>
    asRecord(await gateway.api(path, { method: 'POST', body: JSON.stringify(body) }));
  const key = String((await post('/api/v1/keys', { name: 'agents', runs_from: ['agents'] }))['key']);
  const token = String((await post('/api/v1/read-tokens', { name: 'my agent' }))['token']);
  for (const [index, recipe] of ['claude-code', 'claude-code-http', 'codex', 'codex-http'].entries()) {
    provider.wantRuns(index + 1);
    const before = provider.answers.length;
    const status = await ask(gateway, key, programs, { recipe, token });
    const said = provider.answers.slice(before).at(-1) ?? '';
    const client = recipe.replace('-http', '');
    const isRight = status === 0 && said.replaceAll('\\', '').includes(`"trace_id":"${client}:`);
    console.log(
      `${isRight ? 'ok    ' : 'FAILED'}   ${recipe}: ${isRight ? 'it is told of its own session' : said.slice(0, 400)}`,
    );
    if (!isRight) process.exitCode = 1;
  }
  const before = provider.answers.length;
  const status = await ask(gateway, key, programs, { recipe: 'codex-http', token: 'tgm_wrong' });
  const isRefused = status !== 0 && provider.answers.length === before;
  console.log(`${isRefused ? 'ok    ' : 'FAILED'}   a wrong token: ${isRefused ? 'refused' : 'not refused'}`);
  if (!isRefused) process.exitCode = 1;
} finally {
  await gateway.stop();
  await provider.close();
}
