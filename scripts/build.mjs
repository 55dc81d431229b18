// `npm run build`: compiles `src` to `dist`, copies the SQL and JSON files that the code reads beside it, and builds the
// dashboard when it changed. Runs on the machine's own Node, so it uses only what Node 20 has.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
const target = join(root, 'dist');

mkdirSync(target, { recursive: true });
for (const name of readdirSync(target)) {
  // It knows itself whether it is up to date.
  if (name !== 'dashboard') rmSync(join(target, name), { recursive: true, force: true });
}
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

for (const name of readdirSync(source, { recursive: true })) {
  if (!/\.(sql|json)$/.test(name)) continue;
  mkdirSync(dirname(join(target, name)), { recursive: true });
  cpSync(join(source, name), join(target, name));
}

const dashboard = spawnSync(process.execPath, [join(root, 'scripts', 'build-dashboard.mjs')], { stdio: 'inherit' });
if (dashboard.status !== 0) process.exit(1);
