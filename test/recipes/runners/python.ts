/** Recipes for Python: a set of packages for most, and those of the helper's frameworks for what cannot stand beside them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeEnvironment } from '../../clients/python.ts';
import { call, mustCall, root } from '../install-once.ts';
import type { RecipeCase } from '../recipe-cases.ts';
import type { PreparedRunner, RecipeRunner } from '../recipe-runner.ts';

export const NEEDS_PYTHON = 'Python 3.11 or newer with venv (PYTHON: which one)';
/** Of the locks: their wheels are for these and newer. */
const IS_NEW_ENOUGH = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

export const python: RecipeRunner = {
  opening: 'python',
  prepare: (cases) => {
    const given = process.env['RECIPES_PYTHON'];
    if (given !== undefined) return runWith(given, cases);
    const found = findPython();
    if (found === null) return { needs: NEEDS_PYTHON };
    return runWith(installSdks(found), cases);
  },
};

/** The interpreter that has the providers' SDKs. */
export function installSdks(found: string): string {
  return makeEnvironment(found, join(root, 'clients/recipes/python/requirements.lock'), ['--require-hashes']);
}

/** With a set of packages of clients/python/frameworks. */
export function pythonFrameworks(set: string): RecipeRunner {
  return pythonOf(`clients/python/frameworks/requirements-${set}.txt`);
}

/** `file`: all packages with their versions. */
export function pythonOf(file: string): RecipeRunner {
  return {
    opening: 'python',
    prepare: (cases) => {
      const found = findPython();
      if (found === null) return { needs: NEEDS_PYTHON };
      return runWith(makeEnvironment(found, join(root, file), ['--no-deps']), cases);
    },
  };
}

export function findPython(): string | null {
  const found = [process.env['PYTHON'], 'python3', 'python'].find(
    (command) => command !== undefined && call(command, ['-c', IS_NEW_ENOUGH]).status === 0,
  );
  return found ?? null;
}

function runWith(interpreter: string, cases: readonly RecipeCase[]): PreparedRunner {
  const missing = listMissingModules(
    interpreter,
    cases.flatMap(({ modules }) => modules),
  );
  return {
    reasonAgainst: ({ modules }) => {
      const lacking = modules.filter((name) => missing.has(name));
      return lacking.length === 0 ? null : `${lacking.join(', ')} not installed`;
    },
    write: (folder, { program }, { opening, code }) => {
      const file = join(folder, 'recipe.py');
      writeFileSync(file, program ?? `${opening}\n${code}`);
      const start = `'${interpreter}' '${file}'`;
      return program === undefined ? start : `${code}\n${start}`;
    },
  };
}

/** Those of the modules that this Python does not have. */
function listMissingModules(interpreter: string, modules: readonly string[]): ReadonlySet<string> {
  const program = `import importlib.util, sys
def has(name):
    try: return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError: return False
print(*(name for name in sys.argv[1:] if not has(name)))`;
  return new Set(mustCall(interpreter, ['-c', program, ...modules]).split(/\s+/));
}
