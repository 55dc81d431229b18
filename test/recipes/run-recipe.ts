/** Runs one recipe as a user would: its text in a file or a shell, in a folder and home of its own. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecipeBlock } from './read-recipes.ts';
import { OPENINGS, type RecipeCase } from './recipe-cases.ts';

/** Frameworks import for a minute on a busy machine, before Python has compiled them. */
const LIMIT_MS = 300_000;
/** The address that the page writes. */
const WRITTEN = '127.0.0.1:4141';

export interface Stage {
  readonly blocks: readonly RecipeBlock[];
  /** `127.0.0.1:PORT` of the gateway. */
  readonly host: string;
  readonly key: string;
  readonly folder: string;
  readonly python: string | null;
}

function codeOf({ blocks, host }: Stage, name: string): string {
  const block = blocks.find((one) => one.name === name);
  if (block === undefined) throw new Error(`docs/clients.md has no recipe ${name}`);
  return block.code.replaceAll(WRITTEN, host);
}

function commandOf(stage: Stage, { runner, recipe, program }: RecipeCase): string {
  if (runner === 'sh') return codeOf(stage, recipe);
  const opening = OPENINGS[runner];
  const code = program ?? `${opening === null ? '' : codeOf(stage, opening)}\n${codeOf(stage, recipe)}`;
  const file = join(stage.folder, runner === 'python' ? 'recipe.py' : 'recipe.mts');
  writeFileSync(file, code);
  const start = `'${runner === 'python' ? stage.python : process.execPath}' '${file}'`;
  return program === undefined ? start : `${codeOf(stage, recipe)}\n${start}`;
}

/** Resolves when it has ended well; rejects with what it printed. */
export function runRecipe(stage: Stage, one: RecipeCase): Promise<void> {
  const env = {
    PATH: process.env['PATH'],
    // Nothing of the user's own settings, and no proxy.
    HOME: stage.folder,
    NO_PROXY: '127.0.0.1,localhost',
    TOLLGATE_KEY: stage.key,
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
  };
  return new Promise((resolve, reject) => {
    execFile(
      'sh',
      ['-ec', commandOf(stage, one)],
      { cwd: stage.folder, env, timeout: LIMIT_MS },
      (error, stdout, stderr) => {
        if (error === null) resolve();
        else {
          const reason = error.killed === true ? `ended after ${LIMIT_MS} ms: ` : '';
          reject(new Error(reason + `${stdout}${stderr}`.trim().split('\n').slice(-12).join('\n')));
        }
      },
    );
  });
}
