/** The first start of a clone, with an npm that only pretends: what a person reads while it installs, and when it fails. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Tells of two packages, as npm does, and then installs nothing but what the lock file says. */
const WORKING_NPM = `
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
const say = (line) => process.stderr.write(line + '\\n');
if (process.argv.slice(2, 4).join(' ') !== 'ci --ignore-scripts') process.exit(9);
say('npm warn EBADENGINE Unsupported engine {');
say('npm http fetch GET 200 https://registry.npmjs.org/pg 20ms (cache miss)');
for (const name of ['pg', 'ws']) say('npm http fetch GET 200 https://registry.npmjs.org/' + name + '/-/' + name + '-1.0.0.tgz 20ms (cache miss)');
mkdirSync('node_modules/.bin', { recursive: true });
symlinkSync(process.execPath, 'node_modules/.bin/node');
copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
`;

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'tollgate-clone-'));
  for (const name of ['scripts', 'bin', 'package.json'])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  const packages = {
    '': {},
    a: { version: '1' },
    b: { version: '1' },
    c: { version: '1', os: ['aix'], optional: true },
  };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
});
afterEach(() => rmSync(clone, { recursive: true }));

function ensureInstall(npm: string, ...args: string[]): { readonly status: number | null; readonly stderr: string } {
  writeFileSync(join(clone, 'npm.mjs'), npm);
  const { npm_node_execpath: _node, ...env } = process.env;
  return spawnSync(process.execPath, [join(clone, 'scripts/ensure-install.mjs'), ...args], {
    env: { ...env, npm_execpath: join(clone, 'npm.mjs') },
    encoding: 'utf8',
  });
}

test('it says how much there is to install and that it happens once, and then nothing more', () => {
  const first = ensureInstall(WORKING_NPM);
  expect(first.stderr.replace(/\d+ s\.$/m, '0 s.')).toBe(
    `Tollgate: the first start of this clone installs what it needs: about 2 packages, about 400 MB to fetch and 1.1 GB on disk. It happens once.
Tollgate: installed 2 packages in 0 s.
`,
  );
  expect(first.status).toBe(0);
  expect(ensureInstall('process.exit(1)')).toMatchObject({ status: 0, stderr: '' });
});

test('a start installs what running needs, a test the rest, and after that a start leaves it there', () => {
  const packages = { '': {}, a: { version: '1' }, tool: { version: '1', dev: true } };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
  const running = JSON.stringify({ packages: { a: { version: '1' } } });
  const npm = (expected: boolean, installed: string) =>
    WORKING_NPM.replace(
      "mkdirSync('node",
      `if (process.argv.includes('--omit=dev') !== ${expected}) process.exit(8);\nmkdirSync('node`,
    ).replace(
      "copyFileSync('package-lock.json', 'node_modules/.package-lock.json')",
      `(await import('node:fs')).writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(installed)})`,
    );
  const first = ensureInstall(npm(true, running), '--to-run');
  expect(first.stderr).toContain('about 1 packages, about 120 MB to fetch and 350 MB on disk');
  expect(first.status).toBe(0);
  expect(ensureInstall('process.exit(1)', '--to-run').status).toBe(0);
  rmSync(join(clone, 'node_modules/.bin'), { recursive: true });
  expect(ensureInstall(npm(false, JSON.stringify({ packages }))).status).toBe(0);
  expect(ensureInstall('process.exit(1)', '--to-run').status).toBe(0);
});

test('what is not for a person, like warnings of old packages, is not shown', () => {
  expect(ensureInstall(WORKING_NPM).stderr).not.toContain('EBADENGINE');
});

test.each([
  [
    'code EAI_AGAIN',
    'request to https://registry.npmjs.org/pg failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org',
    'the registry cannot be reached: is there a network?',
  ],
  ['code ENOSPC', 'nospc ENOSPC: no space left on device, write', 'the disk is full: about 1.3 GB must be free here'],
  [
    'code EACCES',
    "Error: EACCES: permission denied, mkdir '/srv/tollgate/node_modules'",
    'a file may not be written: give the folder of this clone',
  ],
  [
    'code E407',
    '407 Proxy Authentication Required - GET https://registry.npmjs.org/pg',
    'the proxy of this network refused: set HTTPS_PROXY=',
  ],
  [
    'code SELF_SIGNED_CERT_IN_CHAIN',
    'request failed, reason: self-signed certificate in certificate chain',
    'the certificate of the registry is not trusted',
  ],
  ['code EBADENGINE', 'Unsupported engine', 'this Node or npm is too old: Node 20 or newer is needed'],
])('npm’s "%s" is one line that says what to do', (code, text, line) => {
  const { status, stderr } = ensureInstall(
    `for (const line of ${JSON.stringify([code, text])}) process.stderr.write('npm error ' + line + '\\n'); process.exit(1);`,
  );
  expect(status).toBe(1);
  const [, last = '', ...rest] = stderr.trim().split('\n');
  expect(last).toContain(`Tollgate: installing failed: ${line}`);
  expect(last).toContain(`(npm: ${text})`);
  expect(rest).toEqual([]);
});

test('a failure that is not known is told in npm’s own words', () => {
  const { stderr } = ensureInstall(`process.stderr.write('npm error Exit handler never called!\\n'); process.exit(7);`);
  expect(stderr).toContain(
    'npm error Exit handler never called!\nTollgate: installing failed; the lines above are from npm.',
  );
});

test('a Node that lacks a library of the system is told with the package that has it', () => {
  const npm = WORKING_NPM.replace(
    "symlinkSync(process.execPath, 'node_modules/.bin/node');",
    `(await import('node:fs')).writeFileSync('node_modules/.bin/node', '#!/bin/sh\\necho "node: error while loading shared libraries: libatomic.so.1: cannot open" >&2\\nexit 127\\n', { mode: 0o755 });`,
  );
  expect(ensureInstall(npm).stderr).toContain(
    'Tollgate: this system lacks libatomic.so.1, which Node needs: apt-get install libatomic1 (Fedora, RHEL: dnf install libatomic).',
  );
});

test('in a terminal one line is rewritten', () => {
  const script = `
    import { createInstallProgress } from '${join(root, 'scripts/install-progress.mjs')}';
    const written = [];
    let nowMs = 0;
    const stream = { isTTY: true, write: (text) => written.push(text) };
    const progress = createInstallProgress(stream, 3, () => nowMs);
    progress.take('npm http fetch GET 200 https://registry.npmjs.org/ws/-/ws-8.0.0.tgz 9ms (cache miss)');
    nowMs = 42_000;
    progress.show();
    progress.take('npm http fetch GET https://registry.npmjs.org/pg/-/pg-8.0.0.tgz attempt 1 failed with EAI_AGAIN');
    progress.show();
    progress.end(true);
    console.log(JSON.stringify(written));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual([
    '\r\u001b[KTollgate: installing: 1 of about 3 packages fetched, 42 s',
    '\r\u001b[KTollgate: installing: 1 of about 3 packages fetched, 42 s (the registry cannot be reached, EAI_AGAIN; npm tries again)',
    '\r\u001b[K',
    'Tollgate: installed 1 packages in 42 s.\n',
  ]);
});

test('help needs nothing installed, and is the help of the command that was asked for', () => {
  mkdirSync(join(clone, 'src'));
  writeFileSync(join(clone, 'src/main.ts'), '');
  const ask = (...words: string[]) =>
    spawnSync(process.execPath, [join(clone, 'bin/tollgate.mjs'), ...words], { encoding: 'utf8' });
  const texts: unknown = JSON.parse(readFileSync(join(root, 'bin/help.json'), 'utf8'));
  expect(ask('keys', 'create', '--help').stdout).toBe(Object(texts)['keys create']);
  expect(ask('help', 'start').stdout).toBe(Object(texts)['start']);
  expect(ask().stdout).toContain('Commands:\n  start [options]');
  expect(ask('--help').stderr).toContain('Nothing is installed yet');
});

test('the help that is kept for that is what the commands say (`npm run help` writes it)', async () => {
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'internal-help']);
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  expect(readFileSync(join(root, 'bin/help.json'), 'utf8')).toBe(text);
  // Node reads it itself wherever it stands, and ends when there is no such file.
  expect(text).not.toContain('--env-file');
});
