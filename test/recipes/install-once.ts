/** Packages of a lock, installed once into `node_modules/.cache`, for as long as the lock is the same. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
const CACHE = join(root, 'node_modules/.cache/tollgate-recipes');
const INSTALL_LIMIT_MS = 1_800_000;

interface Ran {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function call(command: string, args: readonly string[], { cwd, env }: Ran = {}): SpawnSyncReturns<string> {
  return spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_LIMIT_MS,
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** What it printed; throws with that where it failed. */
export function mustCall(command: string, args: readonly string[], ran: Ran = {}): string {
  const { status, stdout, stderr, error } = call(command, args, ran);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** A folder with copies of `files`, in which `install` was called. `version`: of the tool, since what it installs may differ. */
export function installOnce(
  name: string,
  files: readonly string[],
  version: string,
  install: (folder: string) => void,
): string {
  const hash = createHash('sha256').update(version);
  for (const file of files) hash.update(readFileSync(file));
  const folder = join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(join(folder, 'complete'))) return folder;
  console.log(`installing what the recipes of ${name} need, which takes minutes the first time`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of files) copyFileSync(file, join(folder, basename(file)));
  install(folder);
  mkdirSync(join(folder, 'complete'));
  return folder;
}
