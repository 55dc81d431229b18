/** Runs one recipe as a user would: its text in a file or a shell, in a folder and home of its own. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { endLeftovers } from '../support/end-leftovers.ts';
import type { RecipeBlock } from './read-recipes.ts';
import type { RecipeCase } from './recipe-cases.ts';
import type { PreparedRunner } from './recipe-runner.ts';

/** Frameworks import for a minute on a busy machine, before Python has compiled them. */
const LIMIT_MS = 300_000;
/** What the page writes, and its readers replace. */
const ADDRESS = '127.0.0.1:4141';
const KEY = 'tgk_…';
const PROVIDERS_KEY = /\bsk-(?:ant-)?…/g;

export interface Stage {
  readonly blocks: readonly RecipeBlock[];
  /** `127.0.0.1:PORT` of the gateway. */
  readonly host: string;
  readonly key: string;
  readonly folder: string;
}

function codeOf({ blocks, host, key }: Stage, name: string): string {
  const block = blocks.find((one) => one.name === name);
  if (block === undefined) throw new Error(`docs/clients.md has no recipe ${name}`);
  const [, port = ''] = host.split(':');
  return block.code
    .replaceAll(ADDRESS, host)
    .replaceAll(/\b4141\b/g, port)
    .replaceAll(KEY, key)
    .replaceAll(PROVIDERS_KEY, 'placeholder');
}

/** Resolves when it has ended well; rejects with what it printed. */
export function runRecipe(
  stage: Stage,
  { write, env: ofRunner }: PreparedRunner,
  opening: string | null,
  one: RecipeCase,
): Promise<void> {
  const folder = join(stage.folder, [one.recipe, one.runner, ...one.modules].join('-').replaceAll('/', '-'));
  mkdirSync(folder);
  const code = [one.after, one.recipe].map((name) => (name === undefined ? '' : codeOf(stage, name))).join('\n');
  const text = { opening: opening === null ? '' : codeOf(stage, opening), code };
  const env = {
    PATH: process.env['PATH'],
    // Nothing of the user's own settings, and no proxy.
    HOME: folder,
    NO_PROXY: '127.0.0.1,localhost',
    TOLLGATE_KEY: stage.key,
    GATEWAY: stage.host,
    OPENAI_API_KEY: 'placeholder',
    ANTHROPIC_API_KEY: 'placeholder',
    GEMINI_API_KEY: 'placeholder',
    TOGETHER_API_KEY: 'placeholder',
    FIREWORKS_API_KEY: 'placeholder',
    DEEPSEEK_API_KEY: 'placeholder',
    AWS_BEARER_TOKEN_BEDROCK: 'placeholder',
    // What some packages would send to their makers.
    DO_NOT_TRACK: '1',
    CREWAI_DISABLE_TELEMETRY: 'true',
    OTEL_SDK_DISABLED: 'true',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    ...ofRunner,
  };
  return new Promise((resolve, reject) => {
    const command = write(folder, one, text);
    const child = execFile('sh', ['-ec', command], { cwd: folder, env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve();
      else {
        const reason = error.killed === true ? `ended after ${LIMIT_MS} ms: ` : '';
        reject(new Error(reason + `${stdout}${stderr}`.trim().split('\n').slice(-12).join('\n')));
      }
    });
    // Not when its pipes close: what it leaves behind may hold them.
    child.once('exit', () => endLeftovers(folder));
    // Agents would wait for what else is said.
    child.stdin?.end();
  });
}
