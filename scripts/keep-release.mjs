// Keeps a release for the test of upgrades: `node scripts/keep-release.mjs v0.1.0` writes what that release runs from,
// without its tests and dashboard, to test/support/upgrade/. Done once a release, when the next one begins; the one before goes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = resolve(import.meta.dirname, '..');
const target = join(root, 'test', 'support', 'upgrade');
const [revision] = process.argv.slice(2);
if (revision === undefined) {
  process.stderr.write('usage: node scripts/keep-release.mjs REVISION\n');
  process.exit(2);
}

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
const { version } = JSON.parse(git('show', `${revision}:package.json`));
const files = git('ls-tree', '-r', '--name-only', revision, 'package.json', 'src', 'migrations')
  .split('\n')
  .filter((name) => name !== '' && !/\.test\.ts$|-cases\.json$/.test(name));
const folder = mkdtempSync(join(tmpdir(), 'release-'));
const archive = join(folder, 'release.tar');
execFileSync('git', ['archive', '--format=tar', '-o', archive, revision, ...files], { cwd: root });
for (const name of readdirSync(target)) if (name.endsWith('.tar.gz')) rmSync(join(target, name));
const name = `tollgate-${version}.tar.gz`;
writeFileSync(join(target, name), gzipSync(readFileSync(archive), { level: 9 }));
rmSync(folder, { recursive: true });
process.stdout.write(`test/support/upgrade/${name}\n`);
