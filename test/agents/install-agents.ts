/** The agents of clients/agents/package-lock.json, installed once for each lock. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const FILES = ['package.json', 'package-lock.json'];
const INSTALL_LIMIT_MS = 900_000;
/** They put the program of the package for this platform into its place; no other script is run. */
const PLACING_SCRIPTS = [
  ['@anthropic-ai/claude-code', 'install.cjs'],
  ['opencode-ai', 'postinstall.mjs'],
] as const;

/** The folder of their programs. */
export function installAgents(): string {
  const from = join(root, 'clients/agents');
  const digest = createHash('sha256')
    .update(readFileSync(join(from, 'package-lock.json')))
    .digest('hex')
    .slice(0, 16);
  const folder = join(root, 'node_modules/.cache/tollgate-agents', digest);
  const programs = join(folder, 'node_modules/.bin');
  if (existsSync(join(folder, 'complete'))) return programs;
  console.log('installing the packages of clients/agents, which takes minutes the first time');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(from, file), join(folder, file));
  // Not `ci`: npm leaves programs for other systems out of a lock, and then misses them there.
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr, error } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_LIMIT_MS,
  });
  if (status !== 0) throw new Error(`npm install in ${folder}: ${error?.message ?? ''}${stderr.slice(-2_000)}`);
  for (const [name, script] of PLACING_SCRIPTS)
    execFileSync(process.execPath, [script], { cwd: join(folder, 'node_modules', name), stdio: 'ignore' });
  mkdirSync(join(folder, 'complete'));
  return programs;
}
