/** Recipes for coding agents: what stands in a file of theirs, or in the shell, and then the program. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { alwaysRuns, type RecipeRunner } from '../recipe-runner.ts';
import { installNodePackages } from './node.ts';

/** Packages that put their program into place after they were installed. */
const TO_FINISH = ['@anthropic-ai/claude-code/install.cjs', 'opencode-ai/postinstall.mjs', 'cline/postinstall.mjs'];

export const agents: RecipeRunner = {
  opening: null,
  prepare: () => {
    const modules = join(installNodePackages('agents', TO_FINISH), 'node_modules');
    return {
      reasonAgainst: alwaysRuns,
      env: { PATH: `${join(modules, '.bin')}:${process.env['PATH'] ?? ''}`, TERM: 'dumb', IS_SANDBOX: '1' },
      write: (folder, { settings, program }, { code }) => {
        symlinkSync(modules, join(folder, 'node_modules'));
        for (const [path, text] of Object.entries(settings ?? {})) {
          const file = join(folder, path);
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text ?? code);
        }
        return program ?? code;
      },
    };
  },
};
