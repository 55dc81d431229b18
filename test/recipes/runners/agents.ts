/** Recipes for coding agents: what stands in a file of theirs, or in the shell, and then the program. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeEnvironment } from '../../clients/python.ts';
import { root } from '../install-once.ts';
import { alwaysRuns, type PreparedRunner, type RecipeRunner } from '../recipe-runner.ts';
import { installNodePackages } from './node.ts';
import { findPython, NEEDS_PYTHON } from './python.ts';

/** Without a terminal, and as root. */
export const AGENT_ENV = { TERM: 'dumb', IS_SANDBOX: '1' };

/** Packages that put their program into place after they were installed. */
const TO_FINISH = ['@anthropic-ai/claude-code/install.cjs', 'opencode-ai/postinstall.mjs', 'cline/postinstall.mjs'];

export const agents: RecipeRunner = {
  opening: null,
  prepare: () => {
    const modules = installAgents();
    return startIn(join(modules, '.bin'), modules);
  },
};

/** Their `node_modules`. */
export function installAgents(): string {
  return join(installNodePackages('agents', TO_FINISH), 'node_modules');
}

/** The folder of its program. */
export function installAider(python: string): string {
  const lock = join(root, 'clients/recipes/aider/requirements.txt');
  return dirname(makeEnvironment(python, lock, ['--no-deps']));
}

/** The one agent that is written in Python. */
export const aider: RecipeRunner = {
  opening: null,
  prepare: () => {
    const python = findPython();
    if (python === null) return { needs: NEEDS_PYTHON };
    return startIn(installAider(python), null);
  },
};

/** `modules`: for agents that are a package of the program. */
function startIn(programs: string, modules: string | null): PreparedRunner {
  return {
    reasonAgainst: alwaysRuns,
    env: { ...AGENT_ENV, PATH: `${programs}:${process.env['PATH'] ?? ''}` },
    write: (folder, { settings, program }, { code }) => {
      if (modules !== null) symlinkSync(modules, join(folder, 'node_modules'));
      for (const [path, text] of Object.entries(settings ?? {})) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text ?? code);
      }
      return program ?? code;
    },
  };
}
