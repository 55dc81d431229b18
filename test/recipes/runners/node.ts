/** Recipes for TypeScript: with the packages of this repository, and with those of clients/recipes/typescript. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installOnce, mustCall, root } from '../install-once.ts';
import { alwaysRuns, type PreparedRunner, type RecipeRunner } from '../recipe-runner.ts';

/** Not `ci`, which refuses a lock where an optional package of another platform cannot be had; versions are the lock's all the same. */
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

export const node: RecipeRunner = { opening: 'typescript', prepare: () => withPackages(root) };

export const nodeFrameworks: RecipeRunner = {
  opening: 'typescript',
  prepare: () => withPackages(installNodePackages('typescript')),
};

/** Of clients/recipes/NAME; `scripts` of the packages are run then. The folder in which `node_modules` is. */
export function installNodePackages(name: string, scripts: readonly string[] = []): string {
  const from = join(root, 'clients/recipes', name);
  const files = ['package.json', 'package-lock.json'].map((file) => join(from, file));
  return installOnce(name, files, process.version, (folder) => {
    mustCall('npm', INSTALL, { cwd: folder });
    for (const script of scripts.map((one) => join(folder, 'node_modules', one))) {
      if (existsSync(script)) mustCall(process.execPath, [script], { cwd: dirname(script) });
    }
  });
}

function withPackages(folderOfPackages: string): PreparedRunner {
  return {
    reasonAgainst: alwaysRuns,
    write: (folder, { program }, { opening, code }) => {
      symlinkSync(join(folderOfPackages, 'node_modules'), join(folder, 'node_modules'));
      const file = join(folder, 'recipe.mts');
      writeFileSync(file, program ?? `${opening}\n${code}`);
      const start = `'${process.execPath}' '${file}'`;
      return program === undefined ? start : `${code}\n${start}`;
    },
  };
}
