/** A Python with the packages of clients/recipes/python/requirements.lock. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const LOCK = join(root, 'clients/recipes/python/requirements.lock');
const CACHE = join(root, 'node_modules/.cache/tollgate-recipes');
const INSTALL_LIMIT_MS = 900_000;
/** Of the lock: its wheels are for these and newer. */
const IS_NEW_ENOUGH = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

function call(command: string, args: readonly string[]) {
  return spawnSync(command, args, { encoding: 'utf8', timeout: INSTALL_LIMIT_MS });
}

function mustCall(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = call(command, args);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** Null where there is none that is new enough. Its packages are installed once for each lock. */
export function findRecipesPython(): string | null {
  const given = process.env['RECIPES_PYTHON'];
  if (given !== undefined) return given;
  const python = [process.env['PYTHON'], 'python3', 'python'].find(
    (command) => command !== undefined && call(command, ['-c', IS_NEW_ENOUGH]).status === 0,
  );
  return python === undefined ? null : makeEnvironment(python);
}

function makeEnvironment(python: string): string {
  const version = mustCall(python, ['--version']);
  const digest = createHash('sha256').update(readFileSync(LOCK)).update(version).digest('hex').slice(0, 16);
  const folder = join(CACHE, `python-${digest}`);
  const inFolder = join(folder, 'bin/python');
  if (existsSync(join(folder, 'complete'))) return inFolder;
  console.log('installing the packages of clients/recipes/python, which takes minutes the first time');
  mkdirSync(CACHE, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  mustCall(python, ['-m', 'venv', folder]);
  mustCall(inFolder, ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary', ':all:', '-r', LOCK]);
  mkdirSync(join(folder, 'complete'));
  return inFolder;
}

/** Those of the modules that this Python does not have. */
export function listMissingModules(python: string, modules: readonly string[]): ReadonlySet<string> {
  const program = `import importlib.util, sys
def has(name):
    try: return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError: return False
print(*(name for name in sys.argv[1:] if not has(name)))`;
  return new Set(mustCall(python, ['-c', program, ...modules]).split(/\s+/));
}
