/** The tests of clients/python: in a folder of their own, with packages that the lock names by their bytes. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { testThroughGateway } from './python-through-gateway.ts';

const root = join(import.meta.dirname, '../..');
export const PACKAGE = join(root, 'clients/python');
const CACHE = join(root, 'node_modules/.cache/tollgate-clients');
const LIMIT_MS = 600_000;

export function call(command: string, args: readonly string[]): SpawnSyncReturns<string> {
  const env = { ...process.env, PYTHONPATH: 'src:tests', PYTHONDONTWRITEBYTECODE: '1' };
  return spawnSync(command, args, { cwd: PACKAGE, encoding: 'utf8', timeout: LIMIT_MS, env });
}

/** What it printed; throws with that where it failed. */
function mustCall(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = call(command, args);
  if (status !== 0) throw new Error(`${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** Null where there is none, or an older one than the package is for. */
export function findPython(): string | null {
  const isNewEnough = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  const found = [process.env['PYTHON'], 'python3', 'python'].find(
    (command) => command !== undefined && call(command, ['-c', isNewEnough]).status === 0,
  );
  return found ?? null;
}

/** Made once for each list of packages. The Python in it. */
export function makeEnvironment(python: string, lock: string, how: readonly string[]): string {
  const version = mustCall(python, ['--version']);
  const name = createHash('sha256').update(readFileSync(lock)).update(version).digest('hex').slice(0, 16);
  const folder = join(CACHE, `python-${name}`);
  const inFolder = join(folder, 'bin/python');
  if (existsSync(join(folder, 'complete'))) return inFolder;
  mkdirSync(CACHE, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  mustCall(python, ['-m', 'venv', folder]);
  mustCall(inFolder, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...how, '-r', lock]);
  mkdirSync(join(folder, 'complete'));
  return inFolder;
}

/** A wheel and a source archive, and the wheel alone in an environment without anything else. */
function tryPackages(python: string): readonly string[] {
  const dist = join(CACHE, 'python-dist');
  const fresh = join(CACHE, 'python-fresh');
  for (const folder of [dist, fresh]) rmSync(folder, { recursive: true, force: true });
  mustCall(python, ['-m', 'build', '--no-isolation', '--outdir', dist]);
  const made = readdirSync(dist).sort();
  mustCall(python, ['-m', 'venv', '--without-pip', fresh]);
  const wheel = made.find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error(`no wheel among ${made.join(', ')}`);
  renameSync(join(dist, wheel), join(dist, 'tollgate.zip'));
  const program = [
    'import sys; sys.path.insert(0, sys.argv[1]); import tollgate, importlib.resources as files',
    'tollgate.install("http://127.0.0.1:9", "tgk_test")',
    'with tollgate.run("r"), tollgate.step("a"): print(tollgate.headers()["X-Gateway-Span-Path"])',
    'assert files.files("tollgate").joinpath("py.typed").is_file()',
  ].join('\n');
  const said = mustCall(join(fresh, 'bin/python'), ['-I', '-c', program, join(dist, 'tollgate.zip')]);
  if (said !== 'a\n') throw new Error(`the wheel said ${said}`);
  return made;
}

/** Prints what was tried; throws with the output of what failed. */
export async function testPython(python: string): Promise<void> {
  const inFolder = makeEnvironment(python, join(PACKAGE, 'requirements-test.txt'), ['--require-hashes']);
  console.log(mustCall(inFolder, ['-m', 'mypy', '--no-incremental', 'src', 'tests']).trim());
  console.log(mustCall(inFolder, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests']).trim());
  console.log(`built and tried: ${tryPackages(inFolder).join(', ')}`);
  await testThroughGateway(inFolder);
}
